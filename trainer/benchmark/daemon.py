"""A paddockd of one's own: started, waited for, ended, and nothing left of it."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path
from types import TracebackType

from paddock import Client, PaddockError

from . import children
from .errors import BenchmarkError

START_SECONDS = 60.0
LOG_BYTES_SHOWN = 2000
# Samples that only wait do not keep others from being judged.
ITEMS_ALIVE_PER_CPU = 4


class PrivateDaemon:
    def __init__(self, paddockd: Path) -> None:
        # Not below /tmp, which every sandbox has for itself.
        base = "/var/tmp" if os.access("/var/tmp", os.W_OK) else None
        self.directory = Path(tempfile.mkdtemp(prefix="paddock-benchmark-", dir=base))
        self.directory.chmod(0o711)
        self.socket = str(self.directory / "run" / "trainer.sock")
        self._log = self.directory / "log"
        config = self.directory / "paddockd.toml"
        config.write_text(
            f"[verify]\nitems_alive = {ITEMS_ALIVE_PER_CPU * (os.cpu_count() or 1)}\n"
        )
        with self._log.open("wb") as log:
            self._process = children.start(
                [
                    str(paddockd),
                    "--config", str(config),
                    "--runtime-dir", str(self.directory / "run"),
                    "--state-dir", str(self.directory / "state"),
                ],
                stdout=log,
                stderr=log,
            )  # fmt: skip
        try:
            self._wait()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> PrivateDaemon:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        children.end(self._process)
        shutil.rmtree(self.directory, ignore_errors=True)

    def _wait(self) -> None:
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until and self._process.poll() is None:
            try:
                with Client(self.socket, timeout=5.0) as client:
                    client.health()
                    return
            except (PaddockError, OSError):
                time.sleep(0.05)
        said = self._log.read_bytes()[-LOG_BYTES_SHOWN:].decode("utf-8", "replace").strip()
        raise BenchmarkError(f"paddockd does not start: {said or 'it said nothing'}")
