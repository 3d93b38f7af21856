"""How a trial ended: pure decisions."""

from __future__ import annotations

import re
from dataclasses import dataclass

# As `paddock run --exit-status` has it.
TIMED_OUT = 124

_CAUSE = re.compile(r"^  cause +(\w+)$", re.MULTILINE)
_REPORT = "paddock report\n"
_UNPROVED = "could not be proved"


@dataclass(frozen=True)
class Report:
    """What `paddock run --report` says last."""

    cause: str
    everything_ended: bool


def read_report(stderr: str) -> Report | None:
    """None: nothing ran. The last one counts: whatever ran could print one before."""
    _, found, text = stderr.rpartition(_REPORT)
    cause = _CAUSE.search(text)
    if not found or cause is None:
        return None
    return Report(cause.group(1), _UNPROVED not in text)


@dataclass(frozen=True)
class Ending:
    exit_status: str  # as the field of run_summary.json
    cause: str


def ending(returncode: int, report: Report | None, stalled: bool) -> Ending:
    code = returncode if returncode >= 0 else 128 - returncode
    if stalled:
        return Ending("Timeout", "stalled")
    cause = report.cause if report is not None else "exited" if returncode >= 0 else "signaled"
    if cause == "wall_clock":
        return Ending("Timeout", cause)
    if cause == "memory_limit":
        return Ending("OomKilled", cause)
    return Ending(f"Clean({code})", cause)
