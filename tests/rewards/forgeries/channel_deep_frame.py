# tries: a frame of half a million brackets
# threat: against the channel; other checkers have none
import os


def solve(a, b):
    text = b"[" * 500_000
    rest = len(text).to_bytes(4, "big") + text
    try:
        while rest:
            rest = rest[os.write(3, rest) :]
    except OSError:
        pass
    return None
