"""The hostile programs: read, and checked to be the ones that results are about."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from .errors import BenchmarkError

PATH = Path(__file__).with_name("corpus_v1.json")
SHA256 = "9b42fd72a20586b598d45e65948c1557e66c08fe1816f945dd5283db96aaa705"
BYTES_MAX = 1 << 20

EFFECTS = ("crash", "stall", "hang", "leak", "exhaust", "tamper", "forge")
SCHEMES = ("in_loop", "forgeable")


@dataclass(frozen=True)
class Hostile:
    id: str
    category: str
    effect: str  # what it does to a trainer without a sandbox, one of EFFECTS
    scheme: str  # the backend that it does it to
    code: str


def load(path: Path = PATH, sha256: str = SHA256) -> tuple[Hostile, ...]:
    try:
        with path.open("rb") as file:
            data = file.read(BYTES_MAX + 1)
    except OSError as error:
        raise BenchmarkError(f"the corpus cannot be read: {error}") from None
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise BenchmarkError(
            f"{path} is not the corpus that results are about: its SHA-256 is {found}, not {sha256}"
        )
    return parse(data)


def parse(data: bytes) -> tuple[Hostile, ...]:
    try:
        document = json.loads(data)
        samples = tuple(
            Hostile(**{**sample, "code": "\n".join(sample["code"]) + "\n"})
            for sample in document["samples"]
        )
    except (ValueError, KeyError, TypeError) as error:
        raise BenchmarkError(f"this is no corpus: {error}") from None
    ids = {sample.id for sample in samples}
    if len(ids) != len(samples) or not samples:
        raise BenchmarkError("this is no corpus: it is empty, or has an id twice")
    for sample in samples:
        if sample.effect not in EFFECTS or sample.scheme not in SCHEMES:
            raise BenchmarkError(f"{sample.id}: an unknown effect or scheme")
    return samples
