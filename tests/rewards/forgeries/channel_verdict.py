# tries: a verdict on the channel
# threat: against the channel; other checkers have none
import os

text = b'{"verdict":"judged","cases":[{"passed":true,"cause":"passed","detail":"","wall_ms":0}],"waited_ms":0}'
try:
    os.write(3, len(text).to_bytes(4, "big") + text)
    os.write(3, text + b"\n")
except OSError:
    pass
os._exit(0)
