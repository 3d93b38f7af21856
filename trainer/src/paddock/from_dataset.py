"""Tests and completions as data sets and trainers have them -> this package's own. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .items import AssertTests, CallCase, CallTests, StdioCase, StdioTests, Tests

# Of a data set with one schema for all rows: what a row does not have is None in it.
OPTIONAL_KEYS = frozenset({"checker", "kwargs", "entry_point", "entry_points", "prelude"})
KEYS_OF_KIND = {
    "stdio": frozenset({"kind", "cases"}),
    "call": frozenset({"kind", "entry_point", "cases"}),
    "assert": frozenset({"kind", "source", "entry_point", "entry_points", "prelude"}),
}


def tests_from(value: object, entry_point: str | None = None) -> Tests:
    """ValueError if these are no tests. Takes
    - StdioTests, CallTests, AssertTests;
    - RFC 0010's JSON, as a mapping or as its text;
    - {"inputs": [..], "outputs": [..], "fn_name"?} or {"assert_case": [..]}, as verl's data has;
    - a list of assert statements, as MBPP has;
    - Python source with asserts or check(candidate), as HumanEval has, with its `entry_point`.
    """
    if isinstance(value, (StdioTests, CallTests, AssertTests)):
        return value
    if isinstance(value, str):
        parsed = _json_in(value)
        if parsed is None:
            return AssertTests(value, entry_point or None)
        value = parsed
    if isinstance(value, Mapping):
        if "kind" in value:
            return _plain_tests(value)
        if value.get("assert_case"):
            return AssertTests("\n".join(_texts("assert_case", value["assert_case"])))
        if "inputs" in value and "outputs" in value:
            return _input_output(value)
    elif isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)) and value:
        return AssertTests("\n".join(_texts("tests", value)), entry_point or None)
    raise ValueError(f"no tests of any form that is known: {_shown(value)}")


def completion_text(completion: object) -> str:
    """What a model wrote: text, or the last message of the assistant's that has any."""
    if isinstance(completion, str):
        return completion
    if not isinstance(completion, Sequence):
        raise ValueError(f"a completion is text or messages, not {_shown(completion)}")
    for message in reversed(completion):
        role, content = field_of(message, "role"), field_of(message, "content")
        if role not in (None, "assistant"):
            continue
        if isinstance(content, str) and content:
            return content
        if isinstance(content, Sequence) and content:
            return "".join(str(field_of(part, "text") or "") for part in content)
    return ""


def field_of(source: object, name: str) -> Any:
    """Of a mapping or of an object; None if it has none."""
    if isinstance(source, Mapping):
        return source.get(name)
    return getattr(source, name, None)


def _json_in(text: str) -> object:
    """None: it is not meant as JSON. A Python source may begin with a bracket, too."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def _plain_tests(value: Mapping[str, Any]) -> dict[str, Any]:
    """Without what a data set of one schema has filled in."""
    keys = KEYS_OF_KIND.get(value["kind"]) if isinstance(value["kind"], str) else None
    tests: dict[str, Any] = {
        key: content
        for key, content in value.items()
        if content is not None or (keys is not None and key in keys - OPTIONAL_KEYS)
    }
    if isinstance(tests.get("cases"), Sequence):
        tests["cases"] = [
            {k: v for k, v in case.items() if v is not None or k not in OPTIONAL_KEYS}
            if isinstance(case, Mapping)
            else case
            for case in tests["cases"]
        ]
    return tests


def _input_output(value: Mapping[str, Any]) -> Tests:
    inputs, outputs = list(value["inputs"]), list(value["outputs"])
    if len(inputs) != len(outputs):
        raise ValueError(f"there are {len(inputs)} inputs and {len(outputs)} outputs")
    function = value.get("fn_name")
    if function:
        return CallTests(
            str(function),
            [CallCase(_arguments(i), _expected(o)) for i, o in zip(inputs, outputs)],
        )
    return StdioTests(
        [
            StdioCase(_lines("inputs", i), _lines("outputs", o), "lines")
            for i, o in zip(inputs, outputs)
        ]
    )


def _arguments(value: object) -> list[Any]:
    """One JSON value a line, or the list itself."""
    if isinstance(value, str):
        return [json.loads(line) for line in value.split("\n") if line.strip()]
    if isinstance(value, Sequence):
        return list(value)
    raise ValueError(f"inputs: {_shown(value)} is no list of arguments")


def _expected(value: object) -> object:
    return json.loads(value) if isinstance(value, str) else value


def _lines(place: str, value: object) -> str:
    return value if isinstance(value, str) else "\n".join(_texts(place, value))


def _texts(place: str, value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Sequence) or not all(isinstance(text, str) for text in value):
        raise ValueError(f"{place}: must be text, or a list of texts")
    return list(value)


def _shown(value: object) -> str:
    return f"{type(value).__name__} {value!r:.80}"
