# tries: an answer of its own before the one that is written for it
# threat: against the channel; other checkers have none
import os
import sys


def solve(a, b):
    frame = sys._getframe(1)
    token = frame.f_locals.get("token", 0)
    for text in (b'[%d,"value",null,[]]' % token, b'[%d,"value",3,[]]' % token):
        try:
            os.write(3, len(text).to_bytes(4, "big") + text)
        except OSError:
            pass
    return None
