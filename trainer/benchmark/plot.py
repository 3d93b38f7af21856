"""Four figures of a sweep, and one of the forgery study if there is one. Backends differ in shade and
in hatch or line, so that they can be told apart in greyscale."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .aggregate import summarise
from .errors import BenchmarkError
from .results import Results, read
from .statistics_of import interval, mean

STYLES: dict[str, dict[str, Any]] = {
    "in_loop": {"label": "baseline: no sandbox for the code", "color": "#c9a227", "hatch": "//", "line": "--", "marker": "s"},
    "paddock": {"label": "treatment: paddock, STRICT", "color": "#1f3d7a", "hatch": "", "line": "-", "marker": "o"},
    "forgeable": {"label": "forgeable: nonce in the same interpreter", "color": "#c9a227", "hatch": "xx", "line": "--", "marker": "^"},
}  # fmt: skip
DOTS_PER_INCH = 130
SIZE_INCHES = (7.2, 4.4)
BAR = 0.36


def plot(sweep: Path, out: Path) -> int:
    results = read(sweep)
    pyplot = _pyplot()
    figures = {
        "p3_survival.png": _survival,
        "quality_parity.png": _parity,
        "step_time_stall.png": _step_times,
        "utilisation.png": _utilisation,
    }
    if results.forging("forgeable") or results.forging("paddock"):
        figures["forgery.png"] = _forgery
    out.mkdir(parents=True, exist_ok=True)
    for name, draw in figures.items():
        figure, axes = pyplot.subplots(figsize=SIZE_INCHES)
        draw(results, axes)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        figure.tight_layout()
        figure.savefig(out / name, dpi=DOTS_PER_INCH)
        pyplot.close(figure)
        print(out / name)
    return 0


def _pyplot() -> Any:
    os.environ.setdefault("MPLCONFIGDIR", os.path.join("/tmp", f"matplotlib-{os.getuid()}"))
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        raise BenchmarkError("plot needs matplotlib: apt-get install python3-matplotlib") from None
    return pyplot


def _legend(axes: Any, **more: Any) -> None:
    """Of what was drawn: of a sweep that has just begun that may be nothing."""
    if axes.get_legend_handles_labels()[1]:
        axes.legend(frameon=False, fontsize=9, **more)


def _bars(axes: Any, backend: str, places: list[float], heights: list[float], **more: Any) -> None:
    style = STYLES[backend]
    axes.bar(
        places, heights, BAR, label=style["label"], color=style["color"], hatch=style["hatch"],
        edgecolor="black", linewidth=0.8, **more,
    )  # fmt: skip


def _placed(index: int, count: int, groups: int) -> list[float]:
    return [group + (index - (count - 1) / 2) * BAR for group in range(groups)]


def _survival(results: Results, axes: Any) -> None:
    headline = summarise(results)["p3_headline"]
    percents = results.percents()
    for index, (backend, by_percent) in enumerate(headline.items()):
        places = _placed(index, len(headline), len(percents))
        shares = [100 * done / runs if runs else 0 for done, runs in by_percent.values()]
        _bars(axes, backend, places, shares)
        for place, share, (done, runs) in zip(places, shares, by_percent.values()):
            axes.text(place, share + 1.5, f"{done}/{runs}", ha="center", fontsize=9)
    axes.set_xticks(range(len(percents)), [f"{percent} %" for percent in percents])
    axes.set_xlabel("share of hostile samples")
    axes.set_ylabel("trainings that ended well, %")
    axes.set_ylim(0, 125)
    axes.set_yticks(range(0, 101, 20))
    axes.set_title("Does training survive hostile samples?")
    _legend(axes, loc="upper center", ncol=2)


def _parity(results: Results, axes: Any) -> None:
    for backend in ("in_loop", "paddock"):
        done = [r for r in results.of(backend, "0") if r.survived]
        if not done:
            continue
        steps = min(len(r.steps) for r in done)
        rewards = [[r.steps[step]["reward"] for r in done] for step in range(steps)]
        averages = [mean([v for v in values if v is not None]) for values in rewards]
        style = STYLES[backend]
        axes.plot(
            range(steps), averages, style["line"], color=style["color"], marker=style["marker"],
            markevery=(0 if backend == "in_loop" else 2, 4),
            # Where both are the same, the lower one shows on both sides of the upper one.
            linewidth=6 if backend == "in_loop" else 2, markersize=10 if backend == "in_loop" else 6,
            label=f"{style['label']}, mean of {len(done)}",
        )  # fmt: skip
        bounds = [interval([v for v in values if v is not None]) for values in rewards]
        if all(bounds):
            low = [max(0.0, b[0]) for b in bounds if b]
            high = [min(1.0, b[1]) for b in bounds if b]
            axes.fill_between(range(steps), low, high, color=style["color"], alpha=0.15, lw=0)
    axes.set_xlabel("step of training")
    axes.set_ylabel("mean reward of the model's programs (0 to 1)")
    axes.set_ylim(0, 1.02)
    axes.set_title("Does it learn as well? No hostile samples; shade: 95 % interval")
    _legend(axes, loc="lower right")


def _step_times(results: Results, axes: Any) -> None:
    percents = results.percents()
    backends = results.backends()
    for index, backend in enumerate(backends):
        places = _placed(index, len(backends), len(percents))
        known = [
            (place, [t for r in results.of(backend, percent) for t in r.step_times()])
            for place, percent in zip(places, percents)
        ]
        drawn = [(place, times) for place, times in known if times]
        heights = [mean(times) or 0.0 for _, times in drawn]
        longest = [max(times) - height for (_, times), height in zip(drawn, heights)]
        _bars(
            axes, backend, [place for place, _ in drawn], heights,
            yerr=[[0.0] * len(drawn), longest], capsize=3,
            error_kw={"ecolor": "black", "elinewidth": 1},
        )  # fmt: skip
        for place, times in known:
            text = f"{len(times)}" if times else "none"
            axes.text(place, 0.01, text, ha="center", va="bottom", fontsize=8,
                      transform=axes.get_xaxis_transform(),
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})  # fmt: skip
    axes.set_xticks(range(len(percents)), [f"{percent} %" for percent in percents])
    axes.set_xlabel("share of hostile samples; on each bar: steps that were done in all runs")
    axes.set_ylabel("time of a step, s (whisker: the longest)")
    axes.set_title("Does a step stall?")
    top = axes.get_ylim()[1]
    axes.set_ylim(0, top * 1.15)
    _legend(axes, loc="upper left")


def _utilisation(results: Results, axes: Any) -> None:
    """Of the GPU where there is one. Elsewhere what a GPU would be idle for: the share of a step in
    which the model waits for its rewards."""
    has_gpu = any(
        step.get("device_utilisation") is not None for r in results.results for step in r.steps
    )
    for backend in results.backends():
        by_step: dict[int, list[float]] = {}
        for result in results.of(backend):
            for step in result.steps:
                value = step.get("device_utilisation") if has_gpu else _busy(step)
                if value is not None:
                    by_step.setdefault(int(step["step"]), []).append(float(value))
        style = STYLES[backend]
        steps = sorted(by_step)
        axes.plot(
            steps, [mean(by_step[step]) for step in steps], style["line"], color=style["color"],
            marker=style["marker"], markevery=3, linewidth=2, label=style["label"],
        )  # fmt: skip
    axes.set_xlabel("step of training; mean of all runs that reached it")
    if has_gpu:
        axes.set_ylabel("utilisation of the GPU, %")
        axes.set_title("How busy is the device?")
    else:
        axes.set_ylabel("share of the step that the model computes, %")
        axes.set_title("How busy is the model? (No GPU: the rest is waiting for rewards)")
    axes.set_ylim(bottom=0)
    _legend(axes, loc="best")


def _busy(step: dict[str, Any]) -> float | None:
    whole = float(step["step_time_secs"])
    return 100 * (whole - float(step["judge_time_secs"])) / whole if whole > 0 else None


def _forgery(results: Results, axes: Any) -> None:
    for backend in ("forgeable", "paddock"):
        done = [r for r in results.forging(backend) if r.survived]
        if not done:
            continue
        style = STYLES[backend]
        steps = min(len(r.steps) for r in done)
        paid = [mean([r.steps[step]["reward"] for r in done]) for step in range(steps)]
        true = [
            mean([rate for r in done if (rate := r.held_out.get(step)) is not None])
            for step in range(steps)
        ]
        axes.plot(range(steps), paid, style["line"], color=style["color"], linewidth=1.4,
                  label=f"{backend}: reward in training")  # fmt: skip
        axes.plot(range(steps), true, style["line"], color=style["color"], linewidth=2.2,
                  marker=style["marker"], markevery=5, label=f"{backend}: held-out pass rate")  # fmt: skip
    axes.set_xlabel("step of training")
    axes.set_ylabel("mean of the model's programs (0 to 1)")
    axes.set_ylim(0, 1.02)
    axes.set_title("A model that can forge: what it is paid, and what it can do")
    _legend(axes, loc="lower right")
