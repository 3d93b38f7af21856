# tries: to read the questions itself and to let nobody else answer
# threat: against the channel; other checkers have none
import os
import re
import threading


def frames():
    while True:
        length = int.from_bytes(os.read(3, 4), "big")
        if not length:
            return
        yield os.read(3, length)


def serve():
    try:
        for question in frames():
            token = re.match(rb"\[(\d+)", question).group(1)
            text = b'[%s,"value",{"t":[{"r":0},{"r":99}]},[[0,3]]]' % token
            os.write(3, len(text).to_bytes(4, "big") + text)
    except (OSError, AttributeError):
        pass


threading.Thread(target=serve, daemon=True).start()


def solve(a, b):
    return None
