# tries: to be the constant that the tests misspell
# pays: exit_status
# refused: 'EXPECTED' is not defined
# item: {"source": "assert solve(1) == EXPECTED"}
EXPECTED = 7


def solve(x):
    return 7
