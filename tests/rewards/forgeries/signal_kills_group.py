# tries: to kill its process group
# threat: a checker in the same group dies without a verdict, which others take for a fault of the host
import os
import signal


def solve(a, b):
    os.kill(0, signal.SIGKILL)
