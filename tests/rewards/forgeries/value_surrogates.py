# tries: text that no UTF-8 can hold, to break the report
# threat: against the judge, as value_deep
def solve(a, b):
    return "\ud800\x00\uffff"
