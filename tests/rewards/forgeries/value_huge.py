# tries: 100 MiB
# threat: against the judge, as value_deep
def solve(a, b):
    return "x" * (100 << 20)
