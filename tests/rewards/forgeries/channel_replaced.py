# tries: to put something else in the place of the channel, so that the judge waits for ever
# threat: against the channel; other checkers have none
# seconds: 2
import os
import time

try:
    kept = os.dup(3)
except OSError:
    kept = None
null = os.open("/dev/null", os.O_RDWR)


def solve(a, b):
    os.dup2(null, 3)
    time.sleep(60)
