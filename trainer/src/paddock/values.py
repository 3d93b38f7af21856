"""Python values as the JSON of call tests (RFC 0010): what JSON has no word for is tagged."""

from __future__ import annotations

import base64
import json
import math
from typing import Any, Union

JsonValue = Union[None, bool, int, float, str, list["JsonValue"], dict[str, "JsonValue"]]

DEPTH_MAX = 64
INTEGER_BITS_MAX = 100_000


def to_json(value: object) -> JsonValue:
    """TypeError or ValueError if a judge could not be told this value."""
    return _to_json(value, DEPTH_MAX)


def _to_json(value: object, depth: int) -> JsonValue:
    if depth == 0:
        raise ValueError(f"is more than {DEPTH_MAX} levels deep")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return _integer(int(value))
    if isinstance(value, float):
        return _float(float(value))
    if isinstance(value, str):
        return text(str.__str__(value))
    if isinstance(value, complex):
        return {"$complex": [_float(value.real), _float(value.imag)]}
    if isinstance(value, (bytes, bytearray)):
        return {"$bytes": base64.b64encode(value).decode("ascii")}
    if isinstance(value, list):
        return [_to_json(element, depth - 1) for element in value]
    if isinstance(value, tuple):
        return {"$tuple": [_to_json(element, depth - 1) for element in value]}
    if isinstance(value, frozenset):
        return {"$frozenset": _unordered(value, depth)}
    if isinstance(value, set):
        return {"$set": _unordered(value, depth)}
    if isinstance(value, dict):
        return _dict(value, depth)
    raise TypeError(f"a {type(value).__name__} is no value of a call test")


def text(value: str) -> str:
    """ValueError for text that has no UTF-8: the daemon would take the whole request for no JSON."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"has a lone surrogate at {error.start}") from None
    return value


def canonical(value: JsonValue) -> str:
    """The one text of a JSON value that hashes are made of."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def _integer(value: int) -> int:
    if value.bit_length() > INTEGER_BITS_MAX:
        raise ValueError(f"is an integer of more than {INTEGER_BITS_MAX} bits")
    repr(value)  # ValueError where Python's own limit (sys.set_int_max_str_digits) is lower
    return value


def _float(value: float) -> JsonValue:
    if math.isnan(value):
        return {"$float": "nan"}
    if math.isinf(value):
        return {"$float": "inf" if value > 0 else "-inf"}
    return value


def _unordered(value: set[Any] | frozenset[Any], depth: int) -> list[JsonValue]:
    # Sorted, so that equal sets have equal texts in each process.
    return sorted((_to_json(element, depth - 1) for element in value), key=canonical)


def _dict(value: dict[Any, Any], depth: int) -> JsonValue:
    if all(isinstance(key, str) and not key.startswith("$") for key in value):
        return {text(key): _to_json(element, depth - 1) for key, element in value.items()}
    return {
        "$dict": [
            [_to_json(key, depth - 1), _to_json(element, depth - 1)]
            for key, element in value.items()
        ]
    }
