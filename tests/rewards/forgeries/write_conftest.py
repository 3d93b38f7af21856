# tries: a conftest.py, which pytest loads before the tests
# threat: pays where pytest runs the tests in the folder of the code; no checker here needs pytest
for name in ("conftest.py", "pytest.ini", "test_other.py"):
    with open(name, "w") as file:
        file.write("" if name == "pytest.ini" else "import os\nos._exit(0)\n")


def solve(a, b):
    return None
