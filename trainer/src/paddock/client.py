"""The client for threads. AsyncClient (async_client.py) is the same for asyncio."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ._http import Connections, Response
from .address import address
from .answers import failure, parse_object
from .batch import Batch, Guard
from .errors import PaddockError, Unavailable
from .feed import SILENCE_MAX_S, FeedEntry, FeedReader
from .items import Item
from .options import Options, options_json
from .retry import Deadline, Interrupted, Tries
from .verdict import Verdict

if TYPE_CHECKING:
    from typing_extensions import Unpack

TIMEOUT_S = 600.0


class Client:
    """Asks one daemon. Threads may share it, and so may a process and its forks.

    With a `key` (64 hexadecimal digits, as `paddock key new` prints them) each verdict is checked,
    and ForgedVerdict raised for one that does not hold. `timeout` bounds each call with all its
    tries: a daemon that is away or has no room is asked again until then, and then Unavailable is
    raised.
    """

    def __init__(
        self,
        socket: str | os.PathLike[str] | None = None,
        *,
        url: str | None = None,
        token: str | None = None,
        key: str | bytes | None = None,
        timeout: float = TIMEOUT_S,
    ) -> None:
        self.address = address(socket, url, token)
        Deadline(timeout)  # ValueError if it is none
        self.timeout = timeout
        self._key = key
        self._guard = Guard(key)
        self._connections = Connections(self.address)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connections.close()

    def health(self) -> dict[str, Any]:
        """What GET /health says. Unavailable at once if nobody answers."""
        deadline = Deadline(min(self.timeout, 10.0))
        try:
            response = self._connections.request("GET", "/health", None, deadline)
            return parse_object(_body_of(response))
        except Interrupted as why:
            raise Unavailable(str(why)) from None

    def verify(
        self, items: Iterable[Item], *, timeout: float | None = None, **options: Unpack[Options]
    ) -> list[Verdict]:
        """A verdict for each item, in the order of the items."""
        batch = Batch(items, self._guard, options_json(options))
        for _ in self._run(batch, timeout):
            pass
        return list(batch.verdicts())

    def stream(
        self, items: Iterable[Item], *, timeout: float | None = None, **options: Unpack[Options]
    ) -> Iterator[Verdict]:
        """As verify(), each verdict when it is there. Close the iterator to end what still runs."""
        return self._run(Batch(items, self._guard, options_json(options)), timeout)

    def feed(
        self,
        after: int = 0,
        *,
        follow: bool = True,
        advantages: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[FeedEntry]:
        """Verdicts and groups from the ledger, each once, from `after` on; `follow`: without end, as
        they come, else what there is now. `advantages`: "grpo"
        (the daemon's default), "no_std" or "rloo". Goes on over restarts of the daemon; `timeout`:
        how long it may be away. The `seq` of the last entry is the next call's `after`."""
        reader = FeedReader(after, follow, advantages, self._key)
        return self._read_feed(reader, self.timeout if timeout is None else timeout)

    def _run(self, batch: Batch, timeout: float | None) -> Iterator[Verdict]:
        tries = Tries(Deadline(self.timeout if timeout is None else timeout))
        try:
            batch.open()
            while True:
                try:
                    for verdict in self._attempt(batch, tries.deadline):
                        tries.progress()
                        yield verdict
                    return
                except Interrupted as why:
                    wait_s = tries.next_wait_s(why)
                    if wait_s is None:
                        raise unavailable(batch, why) from None
                    time.sleep(wait_s)
        finally:
            batch.close()

    def _attempt(self, batch: Batch, deadline: Deadline) -> Iterator[Verdict]:
        batch.begin_attempt()
        response = self._connections.request("POST", "/v1/verify", batch.body, deadline)
        try:
            if response.status != 200:
                raise failure(response.status, response.header("Retry-After"), response.read())
            for line in response.lines():
                if (verdict := batch.take(line)) is not None:
                    yield verdict
            if not batch.is_complete:
                raise Interrupted("the answer ended before its last verdict")
        finally:
            response.close()

    def _read_feed(self, reader: FeedReader, timeout: float) -> Iterator[FeedEntry]:
        tries: Tries | None = None
        while True:
            try:
                response = self._connections.request(
                    "GET", reader.target, None, Deadline(None), SILENCE_MAX_S
                )
                try:
                    if response.status != 200:
                        retry_after = response.header("Retry-After")
                        raise reader.failure(response.status, retry_after, response.read())
                    for line in response.lines():
                        entry = reader.take(line)
                        tries = None
                        if entry is not None:
                            yield entry
                finally:
                    response.close()
                if not reader.follow:
                    return
                raise Interrupted("the feed ended")
            except Interrupted as why:
                tries = tries or Tries(Deadline(timeout))  # away since now
                wait_s = tries.next_wait_s(why)
                if wait_s is None:
                    raise Unavailable(f"the feed after {reader.position}: {why}") from None
                time.sleep(wait_s)


def unavailable(batch: Batch, why: Interrupted) -> PaddockError:
    received = batch.verdicts()
    return Unavailable(
        f"request {batch.request_id}: {len(received)} of {len(batch.items)} items answered: {why}",
        request_id=batch.request_id,
        received=received,
    )


def _body_of(response: Response) -> bytes:
    try:
        body = response.read()
        if response.status != 200:
            raise failure(response.status, response.header("Retry-After"), body)
        return body
    finally:
        response.close()
