"""What three trials of the benchmark through TRL have to have in common."""

import json
import sys
from pathlib import Path


def summary(name):
    found = json.loads((Path(sys.argv[1]) / name / "run_summary.json").read_text())
    assert found["survived"], found
    assert found["contagion_events"] == 0, found
    assert found["injected_reward"] == 0, found
    return found


own, paddock, hostile = (summary(f"trl-{name}") for name in ("in_loop", "paddock", "hostile"))
assert own["policy_sha256"] == paddock["policy_sha256"] == hostile["policy_sha256"]
assert own["final_reward"] > 0.45 and abs(own["final_reward"] - paddock["final_reward"]) < 0.1
assert hostile["injected"] > 10
print("trl benchmark: 3 passed, 0 failed")
