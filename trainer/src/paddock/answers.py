"""What the daemon's answers mean, apart from verdicts: lines, errors, what to do about a status."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .errors import RequestRefused
from .retry import RETRIED_STATUSES, Interrupted, retry_after_s


def parse_line(line: bytes) -> dict[str, Any] | None:
    """One NDJSON line; None for an empty one, which only says that both are still there."""
    if not line.strip():
        return None
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        raise Interrupted(f"a line is no JSON: {line[:80]!r}", is_nonsense=True) from None
    if not isinstance(event, dict):
        raise Interrupted(f"a line is no object: {line[:80]!r}", is_nonsense=True)
    return event


def parse_object(body: bytes) -> dict[str, Any]:
    event = parse_line(body)
    if event is None:
        raise Interrupted("the answer is empty", is_nonsense=True)
    return event


def failure(status: int, retry_after: str | None, body: bytes) -> Interrupted | RequestRefused:
    """Of an answer that is not 200."""
    code, message = _error_of(body)
    if status in RETRIED_STATUSES:
        return Interrupted(f"{message} ({code})", retry_after_s=retry_after_s(retry_after))
    return RequestRefused(status, code, message)


def _error_of(body: bytes) -> tuple[str, str]:
    try:
        error = parse_object(body).get("error")
    except Interrupted:
        error = None
    if not isinstance(error, Mapping):
        return "unknown", body[:200].decode("utf-8", "replace").strip() or "no message"
    return str(error.get("code", "unknown")), str(error.get("message", "no message"))
