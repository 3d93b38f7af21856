"""From trials to a summary: for programs (summary.json) and for people (summary.md)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .files import write_bytes, write_json
from .results import Results, read
from .statistics_of import interval, mean, quantile
from .summary_text import text

STEP_TIME_RATIO_MAX = 1.3
SEEDS_MIN = 3  # fewer do not tell parity from chance

MET, NOT_MET, NOT_MEASURED = "MET", "NOT_MET", "NOT_MEASURED"


def aggregate(sweep: Path, out: Path) -> int:
    summary = summarise(read(sweep))
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / "summary.json", summary)
    written = text(summary)
    write_bytes(out / "summary.md", written.encode())
    print(written)
    return 0


def summarise(results: Results) -> dict[str, Any]:
    return {
        "p3_headline": _headline(results),
        "quality_parity_guardrail": _parity(results),
        "step_time_guardrail": _step_time_goal(results),
        "overhead_guardrail": _overhead(results),
        "containment_guardrail": _containment_goal(results),
        "reward_integrity": _integrity(results),
        "contagion_events": _table(results, "contagion_events"),
        "exit_status": _exit_status(results),
        "step_time_secs": _step_times(results),
        "contained": _contained(results),
        "forgery_study": _forgery(results),
        "machine": _machine(results),
        "missing": list(results.missing),
    }


def _headline(results: Results) -> dict[str, dict[str, list[int]]]:
    """By backend and percent of hostile samples: [survived, runs]."""
    return {
        backend: {
            percent: [
                sum(result.survived for result in results.of(backend, percent)),
                len(results.of(backend, percent)),
            ]
            for percent in results.percents()
        }
        for backend in results.backends()
    }


def _table(results: Results, field: str) -> dict[str, dict[str, int]]:
    return {
        backend: {
            percent: sum(int(r.summary.get(field) or 0) for r in results.of(backend, percent))
            for percent in results.percents()
        }
        for backend in results.backends()
    }


def _parity(results: Results) -> dict[str, Any]:
    """At 0 %: each backend's mean in the other's 95 % interval."""
    found: dict[str, Any] = {}
    rewards = {}
    for backend in ("in_loop", "paddock"):
        done = [r for r in results.of(backend, "0") if r.survived]
        values = [float(r.summary["final_reward"]) for r in done]
        rewards[backend] = values
        found[f"final_reward_{backend}"] = mean(values)
        found[f"confidence_interval_{backend}"] = interval(values)
        found[f"held_out_pass_rate_{backend}"] = mean(
            [r.summary["held_out_pass_rate"] for r in done if r.summary.get("held_out_pass_rate")]
        )
    found["seeds"] = min(len(values) for values in rewards.values())
    found["seeds_with_identical_weights"] = _identical(results)
    if found["seeds"] < SEEDS_MIN:
        return {**found, "status": NOT_MEASURED}
    inside = all(
        _is_in(found[f"final_reward_{one}"], found[f"confidence_interval_{other}"])
        for one, other in (("in_loop", "paddock"), ("paddock", "in_loop"))
    )
    return {**found, "status": MET if inside else NOT_MET}


def _identical(results: Results) -> int:
    """Seeds whose final policies are the same, bit for bit, whoever ran the code."""
    hashes: dict[int, set[str | None]] = {}
    for backend in ("in_loop", "paddock"):
        for result in results.of(backend, "0"):
            found = result.summary.get("final_policy_sha256") or f"none of {backend}"
            hashes.setdefault(result.configuration.seed, set()).add(found)
    both = {r.configuration.seed for r in results.of("in_loop", "0")}
    both &= {r.configuration.seed for r in results.of("paddock", "0")}
    return sum(len(hashes[seed]) == 1 for seed in both)


def _is_in(value: float | None, bounds: tuple[float, float] | None) -> bool:
    return value is not None and bounds is not None and bounds[0] <= value <= bounds[1]


def _times(results: Results, backend: str, percent: str) -> list[float]:
    return [seconds for r in results.of(backend, percent) for seconds in r.step_times()]


def _step_times(results: Results) -> dict[str, dict[str, Any]]:
    """Of the steps that were done: those of a trial that died are as many as it lived to do."""
    found: dict[str, dict[str, Any]] = {}
    for backend in results.backends():
        quiet = mean(_times(results, backend, "0"))
        quiet_median = quantile(_times(results, backend, "0"), 0.5)
        found[backend] = {}
        for percent in results.percents():
            times = _times(results, backend, percent)
            average, median = mean(times), quantile(times, 0.5)
            found[backend][percent] = {
                "steps": len(times),
                "mean": average,
                "median": median,
                "p95": quantile(times, 0.95),
                "mean_to_its_0_percent": _ratio(average, quiet),
                "median_to_its_0_percent": _ratio(median, quiet_median),
            }
    return found


def _ratio(value: float | None, to: float | None) -> float | None:
    return value / to if value is not None and to else None


def _step_time_goal(results: Results) -> dict[str, Any]:
    ratios = [
        _ratio(mean(_times(results, "paddock", percent)), mean(_times(results, "paddock", "0")))
        for percent in results.percents()
        if percent != "0"
    ]
    known = [ratio for ratio in ratios if ratio is not None]
    worst = max(known, default=None)
    status = NOT_MEASURED if worst is None else MET if worst <= STEP_TIME_RATIO_MAX else NOT_MET
    return {"worst_mean_ratio": worst, "at_most": STEP_TIME_RATIO_MAX, "status": status}


def _overhead(results: Results) -> dict[str, Any]:
    paddock = mean(_times(results, "paddock", "0"))
    in_loop = mean(_times(results, "in_loop", "0"))
    status = NOT_MEASURED
    if paddock is not None and in_loop is not None:
        status = MET if paddock < in_loop else NOT_MET
    return {
        "step_time_secs_paddock": paddock,
        "step_time_secs_in_loop": in_loop,
        "paddock_to_in_loop": _ratio(paddock, in_loop),
        "status": status,
    }


def _containment_goal(results: Results) -> dict[str, Any]:
    done = results.of("paddock")
    events = sum(int(r.summary.get("contagion_events") or 0) for r in done)
    survived = sum(r.survived for r in done)
    met = bool(done) and survived == len(done) and events == 0
    status = NOT_MEASURED if not done else MET if met else NOT_MET
    return {"survived": survived, "runs": len(done), "contagion_events": events, "status": status}


def _integrity(results: Results) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for backend in results.backends():
        done = results.of(backend)
        found[backend] = {
            "adversarial_injected": sum(int(r.summary.get("injected") or 0) for r in done),
            "adversarial_reward": sum(float(r.summary.get("injected_reward") or 0) for r in done),
            "paid": sorted({name for r in done for name in r.summary.get("paid", [])}),
            "setup_error_events": sum(int(r.summary.get("invalid") or 0) for r in done),
        }
    return found


def _exit_status(results: Results) -> dict[str, dict[str, dict[str, int]]]:
    found: dict[str, dict[str, dict[str, int]]] = {}
    for backend in results.backends():
        for percent in results.percents():
            counted = found.setdefault(backend, {}).setdefault(percent, {})
            for result in results.of(backend, percent):
                status = str(result.summary.get("exit_status"))
                counted[status] = counted.get(status, 0) + 1
    return found


def _contained(results: Results) -> dict[str, int]:
    """Of the trainers that ran hostile code themselves, how many did the host no harm."""
    baselines = [r for r in results.results if r.configuration.backend != "paddock"]
    return {
        "contained": sum(r.summary.get("contained") is True for r in baselines),
        "runs": len(baselines),
    }


def _forgery(results: Results) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    for backend in ("forgeable", "paddock"):
        done = [r for r in results.forging(backend) if r.survived]
        if not done:
            continue
        first = [rate for r in done if (rate := r.held_out.get(0)) is not None]
        found[backend] = {
            "runs": len(done),
            "final_reward": mean([float(r.summary["final_reward"]) for r in done]),
            "held_out_pass_rate": mean([float(r.summary["held_out_pass_rate"]) for r in done]),
            "held_out_pass_rate_at_first": mean(first),
        }
    return found or None


def _machine(results: Results) -> dict[str, Any]:
    devices = {str(r.summary.get("device")) for r in results.results}
    torches = {str(r.summary.get("torch")) for r in results.results}
    return {"cpus": os.cpu_count(), "devices": sorted(devices), "torch": sorted(torches)}
