# tries: a small value that is enormous once it is written out
# threat: against the judge, as value_deep
# seconds: 3
def solve(a, b):
    value = [1]
    for _ in range(40):
        value = [value, value]
    return value
