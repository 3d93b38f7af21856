# tries: to kill whoever started it, so that nobody is left who could fail it
# threat: a checker that is killed is taken for a fault of the host, which is why it must not be one
# needs: sandbox
import os
import signal

os.kill(os.getppid(), signal.SIGKILL)


def solve(a, b):
    return None
