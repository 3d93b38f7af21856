"""summary.md: what summary.json says, to be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

BACKENDS = {
    "in_loop": "Baseline (`in_loop`, no sandbox for the code)",
    "paddock": "Treatment (`paddock`, STRICT)",
    "forgeable": "`forgeable` (a nonce in the same interpreter)",
}


def text(summary: dict[str, Any]) -> str:
    parts = [
        "# The training benchmark",
        _machine(summary),
        _missing(summary["missing"]),
        _survival(summary["p3_headline"]),
        _step_times(summary["step_time_secs"]),
        _goals(summary),
        _integrity(summary),
        _forgery(summary["forgery_study"]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join([_row(head), _row(["---"] * len(head)), *(_row(row) for row in rows)])


def _number(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _machine(summary: dict[str, Any]) -> str:
    machine = summary["machine"]
    return (
        f"{machine['cpus']} CPUs; the model on: {', '.join(machine['devices'])}; "
        f"torch {', '.join(machine['torch'])}."
    )


def _missing(names: Sequence[str]) -> str:
    return f"**Not over yet:** {', '.join(names)}" if names else ""


def _survival(headline: dict[str, dict[str, list[int]]]) -> str:
    if not headline:
        return ""
    percents = list(next(iter(headline.values())))
    rows = [
        [BACKENDS[backend], *(f"{done}/{runs}" for done, runs in by_percent.values())]
        for backend, by_percent in headline.items()
    ]
    return "## Runs survived, by share of hostile samples\n\n" + _table(
        ["", *(f"{percent} %" for percent in percents)], rows
    )


def _step_times(times: dict[str, dict[str, Any]]) -> str:
    rows = [
        [
            BACKENDS[backend],
            f"{percent} %",
            str(found["steps"]),
            _number(found["mean"]),
            _number(found["median"]),
            _number(found["p95"]),
            _number(found["mean_to_its_0_percent"]),
        ]
        for backend, by_percent in times.items()
        for percent, found in by_percent.items()
    ]
    if not rows:
        return ""
    head = [
        "",
        "hostile",
        "steps done",
        "mean, s",
        "median, s",
        "95 %, s",
        "mean, to its own at 0 %",
    ]
    return "## Time of a step\n\n" + _table(head, rows)


def _goals(summary: dict[str, Any]) -> str:
    parity = summary["quality_parity_guardrail"]
    step = summary["step_time_guardrail"]
    overhead = summary["overhead_guardrail"]
    contained = summary["containment_guardrail"]
    rows = [
        [
            "treatment survives, no contagion",
            f"{contained['survived']} of {contained['runs']}, "
            f"{contained['contagion_events']} contagion events",
            contained["status"],
        ],
        [
            "final reward at 0 %, each in the other's 95 % interval",
            f"{_number(parity['final_reward_in_loop'], 3)} baseline, "
            f"{_number(parity['final_reward_paddock'], 3)} treatment; {parity['seeds']} seeds, "
            f"{parity['seeds_with_identical_weights']} with the same weights bit for bit",
            parity["status"],
        ],
        [
            f"treatment's step at most {step['at_most']} times its own at 0 %",
            _number(step["worst_mean_ratio"]),
            step["status"],
        ],
        [
            "treatment's step at 0 % shorter than the baseline's",
            f"{_number(overhead['step_time_secs_paddock'])} s and "
            f"{_number(overhead['step_time_secs_in_loop'])} s",
            overhead["status"],
        ],
    ]
    return "## Goals\n\n" + _table(["goal", "measured", ""], rows)


def _integrity(summary: dict[str, Any]) -> str:
    rows = [
        [
            BACKENDS[backend],
            str(found["adversarial_injected"]),
            _number(found["adversarial_reward"], 1),
            ", ".join(found["paid"]) or "none",
        ]
        for backend, found in summary["reward_integrity"].items()
    ]
    if not rows:
        return ""
    head = ["", "hostile samples", "reward paid to them", "which"]
    contained = summary["contained"]
    return (
        "## What hostile samples earned\n\n"
        + _table(head, rows)
        + f"\n\nTrainers without a sandbox for the code that did the host no harm: "
        f"{contained['contained']} of {contained['runs']}."
    )


def _forgery(study: dict[str, Any] | None) -> str:
    if study is None:
        return ""
    rows = [
        [
            BACKENDS[backend],
            str(found["runs"]),
            _number(found["final_reward"]),
            _number(found["held_out_pass_rate"]),
            _number(found["held_out_pass_rate_at_first"]),
        ]
        for backend, found in study.items()
    ]
    head = ["", "runs", "reward in training", "pass rate on held-out cases", "the same at step 0"]
    return "## A model that can forge\n\n" + _table(head, rows)
