# tries: the items of a dict instead of the dict
# threat: only a comparison that turns both into one type pays for it
# item: {"cases": [{"args": [1, 2], "expected": {"1": 2}}, {"args": [1, 2], "expected": {"$dict": [["1", 2]]}}, {"args": [1, 2], "expected": {"$tuple": [["1", 2]]}}]}
def solve(a, b):
    return [("1", 2)]
