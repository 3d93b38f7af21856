# tries: to close everything that is open
# threat: against the channel; other checkers have none
import os


def solve(a, b):
    os.closerange(3, 256)
    return None
