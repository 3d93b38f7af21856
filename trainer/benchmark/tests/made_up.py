"""Sweeps that nobody ran, for the tests of what reads them."""

import json

from benchmark.configuration import Configuration
from benchmark.run import identity

CANARY = {"what": "canary", "before": 1, "after": 0}


def trial(
    sweep, backend, seed, fraction, *, reward=0.9, steps=6, done=None, seconds=1.0, forging=0.0,
    held_out=None, weights="same", events=(), injected=0, paid=0.0,
):  # fmt: skip
    """One that was meant to do `steps`, and did `done` of them."""
    done = steps if done is None else done
    configuration = Configuration(
        backend, seed, fraction, steps=steps, forging_fraction=forging, device="cpu"
    )
    directory = sweep / configuration.name
    directory.mkdir(parents=True)
    (directory / "configuration.json").write_text(json.dumps(identity(configuration)))
    lines = [
        {
            "step": step, "reward": reward, "step_time_secs": seconds,
            "judge_time_secs": seconds * 0.75, "device_utilisation": None,
            "contagion": list(events),
        }
        for step in range(done)
    ]  # fmt: skip
    (directory / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    survived = done == steps
    summary = {
        **identity(configuration),
        "survived": survived,
        "exit_status": "Clean(0)" if survived else "Clean(137)",
        "steps_completed": done,
        "contagion_events": len(events) * done,
        "final_reward": reward if done else None,
        "held_out_pass_rate": (reward if held_out is None else held_out) if done else None,
        "injected": injected,
        "injected_reward": paid,
        "paid": ["exit_handler"] if paid else [],
        "invalid": 0,
        "contained": None if backend == "paddock" else True,
        "final_policy_sha256": f"{weights} {seed}",
        "device": "cpu",
        "torch": "1.13",
    }
    (directory / "run_summary.json").write_text(json.dumps(summary))
    if forging:
        rate = reward if held_out is None else held_out
        (directory / "held_out.json").write_text(json.dumps({str(s): rate for s in range(done)}))
    return configuration


def sweep(directory, trials):
    (directory / "sweep.json").write_text(
        json.dumps({"trials": {trial.name: identity(trial) for trial in trials}})
    )


def usual(directory):
    """Two backends, three seeds, no and the most hostile samples."""
    made = []
    for seed in range(3):
        reward = 0.9 + seed * 0.03
        made += [
            trial(directory, "in_loop", seed, 0.0, reward=reward, seconds=2.0),
            trial(directory, "in_loop", seed, 0.1, done=seed, seconds=6.0, events=[CANARY],
                  injected=3 * seed, paid=1.0 * seed),
            trial(directory, "paddock", seed, 0.0, reward=reward, seconds=1.0),
            trial(directory, "paddock", seed, 0.1, seconds=1.2, injected=20),
        ]  # fmt: skip
    sweep(directory, made)
    return made
