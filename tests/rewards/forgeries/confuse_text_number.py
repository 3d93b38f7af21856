# tries: the text of a number, which prints like the number
# pays: stdout
# item: {"cases": [{"args": [1, 2], "expected": 3}, {"args": [10, 20], "expected": 30}]}
def solve(a, b):
    return str(a + b)
