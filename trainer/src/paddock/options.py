"""What a verify request may ask for besides its items."""

from __future__ import annotations

from typing import TypedDict

from .values import JsonValue


class Options(TypedDict, total=False):
    """What is absent or None is the daemon's default."""

    request_id: str | None  # asking again under the same one does not run again what was answered
    profile: str | None  # "STRICT"
    scoring: str | None  # "fraction" of the cases passed, or "all": 1 or 0
    stop: str | None  # "all" cases, or up to the "first_fail"
    deadline_ms: int | None  # in the daemon, its queue included; then "invalid", "deadline"
    cache: bool | None  # an earlier verdict on the same code and tests will do
    allow_degraded: bool | None  # although a required control is missing: it is in the verdict
    warm: bool | None  # False: no run is the fork of an interpreter that is there already
    known_answers: bool | None  # False: each item has a judge's run


def options_json(options: Options) -> dict[str, JsonValue]:
    """TypeError for an option that there is not."""
    written: dict[str, JsonValue] = {}
    for name, value in options.items():
        if name not in Options.__annotations__:
            known = ", ".join(Options.__annotations__)
            raise TypeError(f"there is no option {name!r}; there are {known}")
        if value is not None:
            if not isinstance(value, (str, int)):
                raise TypeError(f"the option {name!r} is not text, a whole number or a truth value")
            written[name] = value
    return written
