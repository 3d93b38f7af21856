# tries: to end in the stack, by a recursion without end
# threat: a crash is no success anywhere; it must not become a fault of the host either
# seconds: 3
import sys

sys.setrecursionlimit(1 << 30)


def solve(a, b):
    return solve(a, b) + 0
