# tries: an integer of a million digits, whose text takes quadratic time
# threat: against the judge, as value_deep
def solve(a, b):
    return 10**1_000_000
