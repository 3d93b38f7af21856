"""Where the model computes, and how busy that was."""

from __future__ import annotations

import shutil
import subprocess

import torch

from .errors import BenchmarkError

ASK_SECONDS = 5.0


def pick(wanted: str) -> torch.device:
    """With "auto" a GPU, if this process sees one."""
    has_gpu = torch.cuda.is_available()
    if wanted == "auto":
        return torch.device("cuda" if has_gpu else "cpu")
    if wanted not in ("cpu", "cuda"):
        raise BenchmarkError(f"device: {wanted!r} is none of auto, cpu, cuda")
    if wanted == "cuda" and not has_gpu:
        raise BenchmarkError("device: cuda: this process sees no GPU")
    return torch.device(wanted)


def describe(device: torch.device) -> str:
    if device.type == "cuda":
        return str(torch.cuda.get_device_name(device))
    return "cpu"


class Utilisation:
    """In percent, as the driver says; None where there is none to ask, with the reason."""

    def __init__(self, device: torch.device) -> None:
        self.reason: str | None = None
        self._command: list[str] = []
        if device.type != "cuda":
            self.reason = "the model is on the CPU"
        elif (found := shutil.which("nvidia-smi")) is None:
            self.reason = "no nvidia-smi"
        else:
            query = ["--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"]
            self._command = [found, *query]

    def read(self) -> float | None:
        if not self._command:
            return None
        try:
            done = subprocess.run(
                self._command, capture_output=True, timeout=ASK_SECONDS, check=True
            )
            return float(done.stdout.split()[0])
        except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
            self.reason = f"nvidia-smi: {error}"[:200]
            return None
