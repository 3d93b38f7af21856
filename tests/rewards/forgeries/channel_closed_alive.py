# tries: to close the channel and to live on, so that its end looks like a fault of the harness
# threat: against the channel; other checkers have none
# seconds: 2
import os
import time


def solve(a, b):
    try:
        os.close(3)
    except OSError:
        pass
    time.sleep(60)
