# tries: a list that contains itself, twice
# threat: against the judge, as value_deep
def solve(a, b):
    value = []
    value += [value, value]
    return value
