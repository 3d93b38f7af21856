# tries: to use all memory
# threat: no success anywhere; it must not become a fault of the host either
def solve(a, b):
    values = []
    while True:
        values.append(bytearray(1 << 24))
