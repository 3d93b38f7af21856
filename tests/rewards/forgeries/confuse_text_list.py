# tries: the text of a list
# pays: stdout
# item: {"cases": [{"args": [1, 2], "expected": [1, 2]}]}
def solve(a, b):
    return "[%d, %d]" % (a, b)
