"""SandboxFusion's official client and verl's scoring function, as their registry has them.

What shall be too late sleeps: a busy host is to blame for a loop that did not get its processor, and
answers 504."""

import base64
import json
import sys
import threading

import requests
from sandbox_fusion import RunCodeRequest, RunStatus, SummaryMapping, run_code, summary_run_code_result
from sandbox_fusion.models import CommandRunStatus
from sandbox_fusion_score import compute_score

ENDPOINT = sys.argv[1]
WORDS = SummaryMapping(Success="ok", Failed="failed", CompileFailed="compile failed",
                       RunFailed="run failed", RunTimeout="too late")


def ran(**request):
    return run_code(RunCodeRequest(**request), endpoint=ENDPOINT, max_attempts=1, client_timeout=60)


def summary(**request):
    return summary_run_code_result(ran(**request), WORDS)


def official_client():
    every_byte = bytes(range(256)) * 4
    response = ran(language="python", code="import shutil; shutil.copy('in', 'out'); print(input())",
                   stdin="hello\n", files={"in": base64.b64encode(every_byte).decode()}, fetch_files=["out"])
    assert response.status == RunStatus.Success, response
    assert response.run_result.stdout == "hello\n", response
    assert base64.b64decode(response.files["out"]) == every_byte, "the bytes are the same"

    cpp = "#include <iostream>\nint main() { int x; std::cin >> x; std::cout << x * 2; }"
    doubled = ran(language="cpp", code=cpp, stdin="21")
    assert doubled.run_result.stdout == "42" and doubled.compile_result.return_code == 0, doubled

    assert summary(language="cpp", code="int main() { return x; }") == "compile failed"
    assert summary(language="python", code="raise ValueError") == "run failed"
    assert summary(language="python", code="import time; time.sleep(60)", run_timeout=1) == "too late"
    assert summary(language="bash", code="exit 0") == "ok"
    late = ran(language="python", code="import time; time.sleep(9)", run_timeout=0.5)
    assert late.run_result.status == CommandRunStatus.TimeLimitExceeded, late
    print("official client: 9 checks")


def verl_score():
    tests = json.dumps({"inputs": ["1\n", "2\n", "3\n", "4\n"], "outputs": ["2\n", "4\n", "6\n", "8\n"]})

    def score(code, timeout=10):
        return compute_score(ENDPOINT + "/run_code", threading.Semaphore(4), 1024,
                             f"```python\n{code}\n```", tests, continuous=True, timeout=timeout)

    right, details = score("print(int(input()) * 2)")
    assert right == 1.0, (right, details)
    half, details = score("x = int(input())\nprint(x * 2 if x < 3 else 0)")
    assert half == 0.5, (half, details)
    none, details = score("raise SystemExit(1)")
    assert none == 0.0 and all(case["status"] == "runtime_error" for case in details), details
    slow, details = score("import time; time.sleep(60)", timeout=1)
    assert slow == 0.0 and all(case["status"] == "timeout" for case in details), details
    by_function = json.dumps({"inputs": ["[1, 2]", "[3, 4]"], "outputs": ["3", "7"], "fn_name": "add"})
    called, details = compute_score(ENDPOINT + "/run_code", None, 1024,
                                    "```python\ndef add(xs):\n    return sum(xs)\n```", by_function)
    assert called == 1.0, (called, details)
    print("verl: 5 scores")


def without_token():
    address = "http://" + ENDPOINT.split("@")[1]
    refused = requests.post(address + "/run_code", json={"language": "python", "code": "1"}, timeout=10)
    assert refused.status_code == 401, refused


official_client()
verl_score()
without_token()
print("1 passed, 0 failed")
