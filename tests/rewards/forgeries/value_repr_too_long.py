# tries: an integer whose repr is refused, to break the message about it
# threat: against the judge, as value_deep
def solve(a, b):
    return 1 << 99_990
