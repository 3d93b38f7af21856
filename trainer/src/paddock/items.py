"""What is asked: items, and the three kinds of tests. Plain data, and its JSON of RFC 0010."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Union

from .values import JsonValue, canonical, text, to_json

LABEL_BYTES_MAX = 256

Checker = Union[str, Mapping[str, float], None]


@dataclass(frozen=True)
class StdioCase:
    stdin: str | bytes
    stdout: str | bytes
    checker: Checker = None  # "exact" (default), "lines", "tokens", {"float": EPS}

    def to_json(self) -> dict[str, JsonValue]:
        case: dict[str, JsonValue] = {"stdin": _bytes(self.stdin), "stdout": _bytes(self.stdout)}
        return _with_checker(case, self.checker)


@dataclass(frozen=True)
class StdioTests:
    """A program that reads standard input and writes standard output, once for each case."""

    cases: Sequence[StdioCase]

    @classmethod
    def of(cls, *pairs: tuple[str | bytes, str | bytes], checker: Checker = None) -> StdioTests:
        """The tests of (stdin, stdout) pairs."""
        return cls([StdioCase(stdin, stdout, checker) for stdin, stdout in pairs])

    def to_json(self) -> dict[str, JsonValue]:
        return {"kind": "stdio", "cases": _each("cases", self.cases)}


@dataclass(frozen=True)
class CallCase:
    args: Sequence[Any]
    expected: Any
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    checker: Checker = None  # "exact" (default), "unordered", {"float": EPS}

    def to_json(self) -> dict[str, JsonValue]:
        case: dict[str, JsonValue] = {}
        with _at("args "):
            case["args"] = [to_json(value) for value in self.args]
        with _at("expected "):
            case["expected"] = to_json(self.expected)
        with _at("kwargs "):
            if self.kwargs:
                case["kwargs"] = {text(key): to_json(value) for key, value in self.kwargs.items()}
        return _with_checker(case, self.checker)


@dataclass(frozen=True)
class CallTests:
    """Calls of one function. Arguments and expected values are Python values."""

    entry_point: str
    cases: Sequence[CallCase]

    @classmethod
    def of(
        cls, entry_point: str, *pairs: tuple[Sequence[Any], Any], checker: Checker = None
    ) -> CallTests:
        """The tests of (arguments, expected) pairs."""
        return cls(entry_point, [CallCase(args, expected, {}, checker) for args, expected in pairs])

    def to_json(self) -> dict[str, JsonValue]:
        return {
            "kind": "call",
            "entry_point": _text("entry_point", self.entry_point),
            "cases": _each("cases", self.cases),
        }


@dataclass(frozen=True)
class AssertTests:
    """Python source that defines check(candidate), or is bare asserts, or both."""

    source: str
    entry_point: str | None = None
    entry_points: Sequence[str] = ()
    prelude: str = ""

    def to_json(self) -> dict[str, JsonValue]:
        tests: dict[str, JsonValue] = {"kind": "assert", "source": _text("source", self.source)}
        if self.entry_point is not None:
            tests["entry_point"] = _text("entry_point", self.entry_point)
        if self.entry_points:
            tests["entry_points"] = [_text("entry_points", name) for name in self.entry_points]
        if self.prelude:
            tests["prelude"] = _text("prelude", self.prelude)
        return tests


# A mapping is RFC 0010's JSON as it stands, for tests that a data set has in this form.
Tests = Union[StdioTests, CallTests, AssertTests, Mapping[str, Any]]


@dataclass(frozen=True)
class Item:
    """One candidate with its tests.

    `nonce` is for clients without a key that bring their own; with a key the client makes one.
    `integrity` absent is "separate", or "stdio" for stdio tests.
    """

    id: str
    code: str | bytes
    tests: Tests
    group: str | None = None
    language: str = "python"
    limits: Mapping[str, int | float | str] | None = None
    integrity: str | None = None
    nonce: str | None = None

    @property
    def code_bytes(self) -> bytes:
        """What is hashed and run. A model's tokens can decode to lone surrogates: they stay."""
        if isinstance(self.code, bytes):
            return self.code
        return self.code.encode("utf-8", "surrogatepass")

    @property
    def code_hash(self) -> str:
        return hashlib.sha256(self.code_bytes).hexdigest()

    @property
    def asked_integrity(self) -> str:
        """As the answer to it must have it."""
        if self.integrity is not None:
            return self.integrity
        is_stdio = (
            self.tests.get("kind") == "stdio"
            if isinstance(self.tests, Mapping)
            else isinstance(self.tests, StdioTests)
        )
        return "stdio" if is_stdio else "separate"

    def to_json(self) -> dict[str, JsonValue]:
        """TypeError or ValueError, naming the item and the place, if it cannot be sent."""
        with _at(f"item {self.id!r}: "):
            item: dict[str, JsonValue] = {
                "id": _label("id", self.id),
                "code": _code(self.code),
                "language": _text("language", self.language),
                "tests": tests_json(self.tests),
            }
            if self.group is not None:
                item["group"] = _label("group", self.group)
            if self.nonce is not None:
                item["nonce"] = _label("nonce", self.nonce)
            if self.integrity is not None:
                item["integrity"] = _text("integrity", self.integrity)
            if self.limits is not None:
                item["limits"] = _plain("limits", self.limits)
            return item


def tests_json(tests: Tests) -> dict[str, JsonValue]:
    if not isinstance(tests, (StdioTests, CallTests, AssertTests, Mapping)):
        raise TypeError(f"tests must be tests or a mapping, not {type(tests).__name__}")
    with _at("tests."):
        return _plain("", tests) if isinstance(tests, Mapping) else tests.to_json()


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Names the place in what is wrong with a value."""
    try:
        yield
    except TypeError as error:
        raise TypeError(f"{place}{error}") from None
    except ValueError as error:
        raise ValueError(f"{place}{error}") from None


def _text(place: str, value: str) -> str:
    with _at(f"{place} "):
        if not isinstance(value, str):
            raise TypeError(f"must be text, not {type(value).__name__}")
        return text(value)


def _label(place: str, value: str) -> str:
    """Without one of these an answer could not be told from another."""
    label = _text(place, value)
    size = len(label.encode("utf-8"))
    if not 1 <= size <= LABEL_BYTES_MAX or any(ord(c) < 0x20 or ord(c) == 0x7F for c in label):
        raise ValueError(f"{place} must be 1 to {LABEL_BYTES_MAX} bytes without control characters")
    return label


def _code(value: str | bytes) -> JsonValue:
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"code must be text or bytes, not {type(value).__name__}")
    return _bytes(value)


def _plain(place: str, value: Mapping[str, Any]) -> dict[str, JsonValue]:
    """A mapping that is JSON all through."""
    with _at(f"{place} "):
        plain: dict[str, JsonValue] = dict(value)
        text(canonical(plain))
        return plain


def _bytes(value: str | bytes) -> JsonValue:
    if isinstance(value, str):
        try:
            value.encode("utf-8")
            return value
        except UnicodeEncodeError:
            value = value.encode("utf-8", "surrogatepass")
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return {"b64": base64.b64encode(value).decode("ascii")}


def _with_checker(case: dict[str, JsonValue], checker: Checker) -> dict[str, JsonValue]:
    if checker is not None:
        case["checker"] = checker if isinstance(checker, str) else dict(checker)
    return case


def _each(place: str, cases: Sequence[StdioCase | CallCase]) -> list[JsonValue]:
    written: list[JsonValue] = []
    for index, case in enumerate(cases):
        with _at(f"{place}[{index}]."):
            written.append(case.to_json())
    return written
