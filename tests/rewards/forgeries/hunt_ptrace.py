# tries: to stop and trace every process that it sees
# threat: against a judge that it could see; the sandboxes have process tables of their own
# needs: sandbox
import ctypes
import os

PTRACE_ATTACH = 16
libc = ctypes.CDLL(None, use_errno=True)
traced = []
for process in os.listdir("/proc"):
    if process.isdigit() and int(process) not in (1, os.getpid(), os.getppid()):
        if libc.ptrace(PTRACE_ATTACH, int(process), None, None) == 0:
            traced.append(int(process))


def solve(a, b):
    return 3 if traced else None
