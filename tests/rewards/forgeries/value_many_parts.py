# tries: to be so slow to read that the judge gets no number out of it, and to be gone meanwhile
# threat: against the judge, as value_deep
import os
import threading


def solve(*values):
    threading.Timer(1.6, os._exit, (0,)).start()
    return [{}] * 900_000
