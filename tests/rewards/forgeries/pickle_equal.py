# tries: an object that equals everything, sent to another process
# pays: pickled
from unittest.mock import ANY


def solve(a, b):
    return ANY
