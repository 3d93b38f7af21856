"""An existing coding agent, driven by its own scripted model, whose every command is one paddock run.

The agent is mini-swe-agent as its registry has it; only its environment is ours: execute() hands the
command to `paddock run` instead of to a shell."""

import json
import os
import subprocess
import sys
from pathlib import Path

from minisweagent.agents.default import DefaultAgent
from minisweagent.exceptions import Submitted
from minisweagent.models.test_models import DeterministicModel, make_output

BUGGY = "def fizz(n):\n    return 'fizz' if n % 5 == 0 else str(n)\n"
TESTS = (
    "import unittest\nfrom fizz import fizz\n\n"
    "class FizzTest(unittest.TestCase):\n    def test_fizz(self):\n"
    "        self.assertEqual([fizz(n) for n in (1, 3, 5)], ['1', 'fizz', '5'])\n"
)
COMMANDS = [
    "ls -la && cat fizz.py",
    "python3 -B -m unittest -q 2>&1 | tail -3",
    "sed -i 's/% 5/% 3/' fizz.py",
    "python3 -B -m unittest -q 2>&1 | tail -3",
    "cat ~/.ssh/id_rsa /etc/shadow; python3 -c \"import socket; socket.create_connection(('1.1.1.1', 53))\"",
    "sleep 60",
    "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && cat fizz.py",
]


class PaddockEnvironment:
    """mini-swe-agent's environment protocol over `paddock run --json`."""

    def __init__(self, paddock, workspace):
        self.paddock = paddock
        self.workspace = workspace
        self.runs = []

    def execute(self, action, cwd="", *, timeout=None):
        completed = subprocess.run(
            [self.paddock, "run", "--embedded", "--json", "--profile", "STRICT", "--wall", "5",
             "--bind-rw", self.workspace, "--workdir", self.workspace,
             "--", "bash", "-c", action["command"]],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        run = json.loads(completed.stdout)
        self.runs.append(run)
        result = run["result"]
        output = {"output": result["stdout"] + result["stderr"],
                  "returncode": result["exit_code"],
                  "exception_info": "" if result["cause"] == "exited" else result["detail"]}
        lines = output["output"].lstrip().splitlines(keepends=True)
        if lines and lines[0].strip() == "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT":
            submission = "".join(lines[1:])
            raise Submitted({"role": "exit", "content": submission,
                             "extra": {"exit_status": "Submitted", "submission": submission}})
        return output

    def get_template_vars(self, **kwargs):
        return kwargs

    def serialize(self):
        return {}


def main():
    paddock, workspace = sys.argv[1:]
    Path(workspace, "fizz.py").write_text(BUGGY)
    Path(workspace, "test_fizz.py").write_text(TESTS)
    for name in ("fizz.py", "test_fizz.py"):  # as root: the workspace has another owner
        os.chown(Path(workspace, name), Path(workspace).stat().st_uid, -1)

    environment = PaddockEnvironment(paddock, workspace)
    model = DeterministicModel(
        outputs=[make_output(f"step {i}", [{"command": c}], cost=0.0) for i, c in enumerate(COMMANDS)])
    agent = DefaultAgent(model, environment, system_template="You repair programs.",
                         instance_template="{{task}}", cost_limit=0)
    ending = agent.run("make the tests pass")

    runs = environment.runs
    causes = [run["result"]["cause"] for run in runs]
    print("causes:", causes)
    assert ending["exit_status"] == "Submitted", ending
    assert "% 3" in ending["submission"], ending
    assert len(runs) == len(COMMANDS), "every command is one run"
    assert "FAILED (failures=1)" in runs[1]["result"]["stdout"], runs[1]
    assert "OK" in runs[3]["result"]["stdout"], runs[3]
    assert "Network is unreachable" in runs[4]["result"]["stderr"], runs[4]
    assert "No such file" in runs[4]["result"]["stderr"], runs[4]
    assert causes[5] == "wall_clock", runs[5]
    assert all(run["confinement"]["no_new_privs"] for run in runs)
    assert "% 3" in Path(workspace, "fizz.py").read_text(), "the repair is on the host"
    print("1 passed, 0 failed")


main()
