"""One worker of verify_bench, without any isolation: verify_worker.py PROGRAMS MODE [OPTION ...]

PROGRAMS is a JSON array of programs. Standard input is a socket: a line with the index of a program
is answered with a line with its exit status, one at a time, and "cpu" with the microseconds of CPU
that this process and its children have used.

    subprocess   subprocess.run([python3, OPTION ..., "-c", program])
    fork         a fork of this process, which has imported what the programs need, calls exec()
"""

# What HumanEval's programs import, and what comes along with it in a checker.
import collections  # noqa: F401
import copy  # noqa: F401
import functools  # noqa: F401
import gc
import hashlib  # noqa: F401
import heapq  # noqa: F401
import itertools  # noqa: F401
import json
import math  # noqa: F401
import os
import random  # noqa: F401
import re  # noqa: F401
import resource
import socket
import string  # noqa: F401
import subprocess
import sys
import typing  # noqa: F401

PYTHON = "/usr/bin/python3"
TIMEOUT_SECONDS = 60


def in_a_subprocess(program, options):
    command = [PYTHON, *options, "-c", program]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_SECONDS
    )
    return done.returncode


def in_a_fork(program, _):
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            exec(program, {"__name__": "__main__"})
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def cpu_us():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return round(sum(u.ru_utime + u.ru_stime for u in used) * 1e6)


def main():
    path, mode, *options = sys.argv[1:]
    with open(path) as file:
        programs = json.load(file)
    judge = {"subprocess": in_a_subprocess, "fork": in_a_fork}[mode]
    gc.freeze()
    with socket.socket(fileno=0) as peer, peer.makefile("rw") as lines:
        print("ready", file=lines, flush=True)
        for line in lines:
            answer = cpu_us() if line == "cpu\n" else judge(programs[int(line)], options)
            print(answer, file=lines, flush=True)


if __name__ == "__main__":
    main()
