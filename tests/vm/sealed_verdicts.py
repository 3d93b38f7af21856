"""In the virtual machine, as root: right and wrong code is judged under SEALED, which only a host with these
controllers can give; cold while the zygotes start, and warm."""

import http.client
import json
import os
import socket
import subprocess
import tempfile
import time

CGROUP = "/sys/fs/cgroup/system.slice/verdicts"  # empty: the daemon's own to divide
START_S = 60
RIGHT = {"call": "def f(x): return x + 1", "stdio": "print(int(input()) + 1)"}
WRONG = {"call": "def f(x): return x", "stdio": "print(int(input()))"}
TESTS = {
    "call": {"kind": "call", "entry_point": "f", "cases": [{"args": [1], "expected": 2}]},
    "stdio": {"kind": "stdio", "cases": [{"stdin": "1\n", "stdout": "2\n"}]},
}


class Trainer(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("paddock")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        deadline = time.monotonic() + START_S
        while True:
            try:
                return self.sock.connect(self.path)
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)


def items():
    return [
        {"id": f"{kind} {verdict} {number}", "code": code, "tests": tests}
        for number in range(12)
        for kind, tests in TESTS.items()
        for verdict, code in (("pass", RIGHT[kind]), ("fail", WRONG[kind]))
    ]


def judged(place):
    trainer = Trainer(place + "/run/trainer.sock")
    # A judge's run for each, too.
    body = {"items": items(), "profile": "SEALED", "known_answers": False}
    trainer.request("POST", "/v1/verify", json.dumps(body))
    response = trainer.getresponse()
    answer = json.loads(response.read())
    assert response.status == 200, answer
    return answer["items"]


def main():
    os.mkdir(CGROUP)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as place:
        os.chmod(place, 0o755)  # runs have users of their own
        daemon = subprocess.Popen(
            ["/paddock/bin/paddockd", "--cgroup-base", CGROUP]
            + ["--runtime-dir", place + "/run", "--state-dir", place + "/state"]
        )
        try:
            answers = judged(place)
        finally:
            daemon.terminate()
            daemon.wait()
    warm = dict.fromkeys(TESTS, 0)
    for answer in answers:
        kind, verdict, _ = answer["id"].split()
        assert answer["verdict"] == verdict, answer
        assert answer["isolation"] == {"profile": "SEALED", "degraded": []}, answer
        warm[kind] += "cold_because" not in answer
    print("judged under SEALED:", len(answers), "of which warm:", warm)
    assert len(answers) == len(items()) and all(warm.values()), [a.get("cold_because") for a in answers]


main()
