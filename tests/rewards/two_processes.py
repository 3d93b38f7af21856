"""Judge and candidate as two plain processes, without a sandbox around either: what the programs of
supervisor/verify/python/ do by themselves. The daemon puts each into a sandbox of its own."""

import fcntl
import json
import os
import resource
import select
import signal
import socket
import tempfile
import time

PYTHON = os.environ.get("PYTHON", "/usr/bin/python3")  # what the programs run with
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "..", "..", "supervisor", "verify", "python")
MEMORY_BYTES = 512 << 20
CPU_SECONDS = 20
WALL_SECONDS = 60
JUDGE_MARGIN_SECONDS = 30
FIRST_FREE = 20  # descriptors below are for the programs started


def programs():
    joined = {}
    with open(os.path.join(SOURCES, "programs.txt")) as lines:
        for line in lines:
            name, parts = line.split(" = ")
            text = ""
            for part in parts.split():
                kept_as, _, files = part.rpartition(":")
                source = ""
                for name_of_file in files.split("+"):
                    with open(os.path.join(SOURCES, name_of_file)) as file:
                        source += file.read() + "\n"
                text += "%s = r'''\n%s'''\n" % (kept_as, source) if kept_as else source
            joined[name] = text
    return joined


PROGRAMS = programs()


def high(descriptor):
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, FIRST_FREE)
    os.close(descriptor)
    return moved


def holding(content, folder):
    """A descriptor of a file with this content, at its start."""
    descriptor, path = tempfile.mkstemp(dir=folder)
    os.write(descriptor, content)
    os.close(descriptor)
    return high(os.open(path, os.O_RDONLY))


class Process:
    def __init__(self, argv, stdin, folder, channel=None, wall_seconds=WALL_SECONDS):
        self.output, out = (high(end) for end in os.pipe())
        errors = high(os.open(os.path.join(folder, "stderr"), os.O_RDWR | os.O_CREAT | os.O_APPEND))
        actions = [(os.POSIX_SPAWN_DUP2, stdin, 0), (os.POSIX_SPAWN_DUP2, out, 1)]
        actions.append((os.POSIX_SPAWN_DUP2, errors, 2))
        if channel is not None:
            actions.append((os.POSIX_SPAWN_DUP2, channel, 3))
        # env(1) for the working directory, which posix_spawn cannot set.
        self.pid = os.posix_spawn(
            "/usr/bin/env",
            ["env", "-C", folder, *argv],
            {"HOME": folder, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
            file_actions=actions,
            setsid=True,
        )
        resource.prlimit(self.pid, resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.prlimit(self.pid, resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.prlimit(self.pid, resource.RLIMIT_CORE, (0, 0))
        for descriptor in (stdin, out, errors, *([] if channel is None else [channel])):
            os.close(descriptor)
        self.ended = high(os.pidfd_open(self.pid))
        self.deadline = time.monotonic() + wall_seconds
        self.status = None
        self.text = b""
        self.open = True

    def reap(self):
        """After its end: takes what it started with it, as the end of a sandbox does."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.ended)

    def read(self):
        piece = os.read(self.output, 1 << 16)
        self.text = (self.text + piece)[-(1 << 22) :]
        if not piece:
            self.open = False
            os.close(self.output)


def run_all(processes, after_end):
    """Until all have ended. after_end: seconds that the others have once the first is gone."""
    while any(p.status is None for p in processes):
        waited = [p.ended for p in processes if p.status is None]
        waited += [p.output for p in processes if p.open]
        until = min(p.deadline for p in processes if p.status is None)
        ready = select.select(waited, [], [], max(0, until - time.monotonic()))[0]
        for p in processes:
            if p.open and p.output in ready:
                p.read()
            if p.status is None and (p.ended in ready or time.monotonic() >= p.deadline):
                p.reap()
                for other in processes:
                    other.deadline = min(other.deadline, time.monotonic() + after_end)
    for p in processes:
        while p.open:
            p.read()


def judged(code, tests, stop="all", wall_seconds=WALL_SECONDS, candidate=None, **more):
    """The judge's report, or None if it ended without one; and the status of both. more: of its job."""
    if isinstance(code, str):
        code = code.encode("utf-8", "surrogatepass")
    with tempfile.TemporaryDirectory(prefix="paddock-rewards-") as folder:
        ends = [high(end.detach()) for end in socket.socketpair()]
        job = json.dumps({"tests": tests, "stop": stop, **more}).encode()
        sides = [os.path.join(folder, name) for name in ("candidate", "judge")]
        for side in sides:
            os.mkdir(side)
        program = candidate or PROGRAMS["candidate"]
        first = Process(
            [PYTHON, "-I", "-c", program], holding(code, sides[0]), sides[0], ends[0], wall_seconds
        )
        second = Process(
            [PYTHON, "-I", "-S", "-B", "-c", PROGRAMS["judge"]],
            holding(job, sides[1]),
            sides[1],
            ends[1],
        )
        run_all([first, second], JUDGE_MARGIN_SECONDS)
        with open(os.path.join(sides[1], "stderr"), errors="replace") as file:
            errors = file.read()[-4000:]
    report = json.loads(second.text) if second.status == 0 else None
    return report, {"candidate": first.status, "judge": second.status, "judge_errors": errors}


def known_answers(tests, stop="all"):
    """What the judge finds without a candidate, and the end of what it wrote to stderr."""
    with tempfile.TemporaryDirectory(prefix="paddock-rewards-") as folder:
        job = json.dumps({"tests": tests, "stop": stop, "known": True}).encode()
        process = Process(
            [PYTHON, "-I", "-S", "-B", "-c", PROGRAMS["judge"]], holding(job, folder), folder
        )
        run_all([process], 0)
        with open(os.path.join(folder, "stderr"), errors="replace") as file:
            errors = file.read()[-4000:]
    return json.loads(process.text) if process.status == 0 else process.status, errors


def judged_in_process(code, tests, stop="all"):
    with tempfile.TemporaryDirectory(prefix="paddock-rewards-") as folder:
        import base64

        given = {"code_b64": base64.b64encode(code.encode()).decode()}
        given["job"] = {"tests": tests, "stop": stop}
        report, channel = (high(end) for end in os.pipe())
        process = Process(
            [PYTHON, "-I", "-c", PROGRAMS["in_process"]],
            holding(json.dumps(given).encode(), folder),
            folder,
            channel,
        )
        run_all([process], 0)
        with os.fdopen(report, "rb") as file:
            text = file.read()
    return json.loads(text) if text else None, process.status


def naive(variant, given, wall_seconds=10):
    """The exit status and output of the naive checker."""
    with tempfile.TemporaryDirectory(prefix="paddock-rewards-") as folder:
        process = Process(
            [PYTHON, os.path.join(HERE, "naive_checker.py"), variant],
            holding(json.dumps(given).encode(), folder),
            folder,
            wall_seconds=wall_seconds,
        )
        run_all([process], 0)
    return process.status, process.text


def reward(report):
    """The fraction of the cases that passed, or None where there is no number."""
    if report is None or report["verdict"] != "judged":
        return None
    return sum(one["passed"] for one in report["cases"]) / len(report["cases"])
