# tries: to answer before the question, with every token that it can think of
# threat: against the channel; other checkers have none
import os


def frame(text):
    return len(text).to_bytes(4, "big") + text


try:
    os.write(3, frame(b'["ready"]'))
    for token in range(8):
        os.write(3, frame(b'[%d,"value",3,[]]' % token))
except OSError:
    pass


def solve(a, b):
    return None
