"""All that makes one trial what it is. Two trials of one configuration may be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from .errors import BenchmarkError

BACKENDS = ("in_loop", "paddock", "forgeable")
TRAINERS = ("grpo", "trl")
STEPS_MAX = 10_000
GROUP_SIZE_MAX = 256


@dataclass(frozen=True)
class Configuration:
    backend: str
    seed: int = 0
    adversarial_fraction: float = 0.0  # of the samples; what is injected
    forging_fraction: float = 0.0  # of the warm-up's programs; what the model can write by itself
    steps: int = 30
    group_size: int = 8
    time_limit_secs: float = 0.5  # of each sample, with every backend
    epochs: int = 2
    learning_rate: float = 2e-3
    clip: float = 0.2
    kl_weight: float = 0.02
    warm_up_steps: int = 300
    checkpoint_steps: int = 5
    trainer: str = "grpo"
    device: str = "auto"

    def __post_init__(self) -> None:
        _one_of("backend", self.backend, BACKENDS)
        _one_of("trainer", self.trainer, TRAINERS)
        _whole("seed", self.seed, 0, 2**31)
        _whole("steps", self.steps, 1, STEPS_MAX)
        _whole("group_size", self.group_size, 2, GROUP_SIZE_MAX)
        _whole("epochs", self.epochs, 1, 16)
        _whole("warm_up_steps", self.warm_up_steps, 1, 100_000)
        _whole("checkpoint_steps", self.checkpoint_steps, 1, STEPS_MAX)
        _between("adversarial_fraction", self.adversarial_fraction, 0.0, 1.0)
        _between("forging_fraction", self.forging_fraction, 0.0, 0.5)
        _between("time_limit_secs", self.time_limit_secs, 0.05, 60.0)
        _between("learning_rate", self.learning_rate, 1e-6, 1.0)
        _between("clip", self.clip, 0.01, 1.0)
        _between("kl_weight", self.kl_weight, 0.0, 10.0)

    @property
    def name(self) -> str:
        """Of its directory in a sweep."""
        name = f"{self.backend}_seed{self.seed}_fraction{percent(self.adversarial_fraction)}"
        if self.forging_fraction > 0:
            name += f"_forging{percent(self.forging_fraction)}"
        return name if self.trainer == "grpo" else f"{self.trainer}_{name}"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Configuration:
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(value) - known)
        if unknown or "backend" not in value:
            raise BenchmarkError(f"no configuration of a trial: {unknown or 'it has no backend'}")
        return cls(**value)


def percent(fraction: float) -> str:
    """0.05 is "5"."""
    return f"{fraction * 100:g}"


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise BenchmarkError(f"{name}: {value!r} is none of {', '.join(known)}")


def _whole(name: str, value: int, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise BenchmarkError(f"{name}: {value!r} is not a whole number from {least} to {most}")


def _between(name: str, value: float, least: float, most: float) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
        raise BenchmarkError(f"{name}: {value!r} is not a number from {least:g} to {most:g}")
