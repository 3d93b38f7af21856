# tries: a value that cannot be sent, where a bare `except:` of the tests waits for an exception
# threat: only a judge that has an exception of its own for that could take it for the candidate's
# item: {"source": "try:\n    solve(-1, 2)\n    raised = False\nexcept:\n    raised = True\nassert raised"}
def solve(a, b):
    return object()
