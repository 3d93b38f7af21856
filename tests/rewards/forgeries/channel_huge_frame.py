# tries: a frame of 4 GiB
# threat: against the channel; other checkers have none
import os


def solve(a, b):
    try:
        os.write(3, b"\xff\xff\xff\xff" + b"[" * 65536)
    except OSError:
        pass
    return None
