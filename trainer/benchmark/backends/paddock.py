"""The treatment: verdicts over trainer.sock, advantages from the feed."""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence

from paddock import Client, FeedGroup, FeedPruned, Item, PaddockError

from ..errors import BenchmarkError
from ..samples import Judgement, Sample

PROFILE = "STRICT"
CONNECT_SECONDS = 10.0
STEP_SECONDS = 600.0


class Paddock:
    def __init__(self, client: Client, time_limit_secs: float) -> None:
        self._client = client
        self._limits = {"wall_seconds": time_limit_secs}
        # In the feed: what was before is no business of this trial.
        self._position = _end_of_feed(client)

    def judge(self, request_id: str, samples: Sequence[Sample]) -> Judgement:
        verdicts = self._client.verify(
            [self._item(sample) for sample in samples], request_id=request_id, profile=PROFILE
        )
        known = self._advantages(request_id)
        return Judgement(
            [verdict.reward for verdict in verdicts],
            [known.get(sample.id) for sample in samples],
            [verdict.cause for verdict in verdicts],
        )

    def close(self) -> None:
        self._client.close()

    def _item(self, sample: Sample) -> Item:
        return Item(
            sample.id,
            sample.code,
            sample.task.tests(),
            group=str(sample.group) if sample.injected is None else None,
            limits=self._limits,
        )

    def _advantages(self, request_id: str) -> dict[str, float | None]:
        """By sample. Who is in no group of this request, or has no number, is not in it or None."""
        known: dict[str, float | None] = {}
        for entry in self._client.feed(self._position, follow=False, advantages="grpo"):
            self._position = entry.seq
            if isinstance(entry, FeedGroup) and entry.request_id == request_id:
                known.update(zip(entry.group.ids, entry.group.advantages))
        return known


def connect(path: str) -> Client:
    """BenchmarkError unless a daemon answers there."""
    client = Client(path, timeout=STEP_SECONDS)
    try:
        client.health()
    except PaddockError as error:
        raise BenchmarkError(f"no paddockd answers on {path}: {error}") from None
    return client


def daemon_of(path: str) -> int:
    """Its process: whoever made the socket that answers. -1 if that is not paddockd (a service
    manager that started it by its socket): then nobody can tell its processes from others."""
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(CONNECT_SECONDS)
        peer.connect(path)
        packed = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid: int = struct.unpack("3i", packed)[0]
    try:
        with open(f"/proc/{pid}/comm") as file:
            return pid if file.read().strip() == "paddockd" else -1
    except OSError:
        return -1


def _end_of_feed(client: Client) -> int:
    position = 0
    try:
        for entry in client.feed(0, follow=False):
            position = entry.seq
    except FeedPruned as pruned:
        for entry in client.feed(pruned.oldest - 1, follow=False):
            position = entry.seq
    return position
