# tries: to read the tests in the memory of its parent and its siblings
# threat: against a judge that it could see; the sandboxes have process tables of their own
# needs: sandbox
import os
import re


def memories():
    for process in os.listdir("/proc"):
        if not process.isdigit() or int(process) == os.getpid():
            continue
        try:
            with open("/proc/%s/maps" % process) as maps, open(
                "/proc/%s/mem" % process, "rb"
            ) as memory:
                for line in maps:
                    if "[heap]" in line:
                        start, end = (int(part, 16) for part in line.split()[0].split("-"))
                        memory.seek(start)
                        yield memory.read(min(end - start, 1 << 22))
        except (OSError, ValueError):
            pass


def solve(a, b):
    wanted = b'"args":[%d,%d],"expected":([-0-9]+)' % (a, b) if type(a) is int else b"$^"
    for memory in memories():
        found = re.search(wanted, memory)
        if found:
            return int(found.group(1))
    return None
