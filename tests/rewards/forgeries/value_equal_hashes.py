# tries: a set of integers with one hash, which takes quadratic time to build
# threat: against the judge, as value_deep
def solve(a, b):
    return {k * ((1 << 61) - 1) for k in range(1, 3000)}
