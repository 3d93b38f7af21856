"""The client for asyncio: Client (client.py), with the waits awaited."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ._async_http import Connections, Response
from .address import address
from .answers import failure, parse_object
from .batch import Batch, Guard
from .client import TIMEOUT_S, unavailable
from .errors import Unavailable
from .feed import SILENCE_MAX_S, FeedEntry, FeedReader
from .items import Item
from .options import Options, options_json
from .retry import Deadline, Interrupted, Tries
from .verdict import Verdict

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncClient:
    """Asks one daemon, from one event loop at a time. Otherwise as Client."""

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

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connections.close()

    async def health(self) -> dict[str, Any]:
        """What GET /health says. Unavailable at once if nobody answers."""
        deadline = Deadline(min(self.timeout, 10.0))
        try:
            response = await self._connections.request("GET", "/health", None, deadline)
            return parse_object(await _body_of(response))
        except Interrupted as why:
            raise Unavailable(str(why)) from None

    async def verify(
        self, items: Iterable[Item], *, timeout: float | None = None, **options: Unpack[Options]
    ) -> list[Verdict]:
        """A verdict for each item, in the order of the items."""
        batch = Batch(items, self._guard, options_json(options))
        async for _ in self._run(batch, timeout):
            pass
        return list(batch.verdicts())

    def stream(
        self, items: Iterable[Item], *, timeout: float | None = None, **options: Unpack[Options]
    ) -> AsyncIterator[Verdict]:
        """As verify(), each verdict when it is there. Close the iterator
        (contextlib.aclosing) to end what still runs."""
        return self._run(Batch(items, self._guard, options_json(options)), timeout)

    def feed(
        self,
        after: int = 0,
        *,
        follow: bool = True,
        advantages: str | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[FeedEntry]:
        """Verdicts and groups from the ledger, each once, from `after` on. `advantages`: "grpo"
        (the daemon's default), "no_std" or "rloo". Goes on over restarts of the daemon; `timeout`:
        how long it may be away. The `seq` of the last entry is the next call's `after`."""
        reader = FeedReader(after, follow, advantages, self._key)
        return self._read_feed(reader, self.timeout if timeout is None else timeout)

    async def _run(self, batch: Batch, timeout: float | None) -> AsyncIterator[Verdict]:
        tries = Tries(Deadline(self.timeout if timeout is None else timeout))
        try:
            batch.open()
            while True:
                try:
                    async for verdict in self._attempt(batch, tries.deadline):
                        tries.progress()
                        yield verdict
                    return
                except Interrupted as why:
                    wait_s = tries.next_wait_s(why)
                    if wait_s is None:
                        raise unavailable(batch, why) from None
                    await asyncio.sleep(wait_s)
        finally:
            batch.close()

    async def _attempt(self, batch: Batch, deadline: Deadline) -> AsyncIterator[Verdict]:
        batch.begin_attempt()
        response = await self._connections.request("POST", "/v1/verify", batch.body, deadline)
        try:
            if response.status != 200:
                raise failure(
                    response.status, response.header("Retry-After"), await response.read()
                )
            async for line in response.lines():
                if (verdict := batch.take(line)) is not None:
                    yield verdict
            if not batch.is_complete:
                raise Interrupted("the answer ended before its last verdict")
        finally:
            response.close()

    async def _read_feed(self, reader: FeedReader, timeout: float) -> AsyncIterator[FeedEntry]:
        tries: Tries | None = None
        while True:
            try:
                response = await self._connections.request(
                    "GET", reader.target, None, Deadline(None), SILENCE_MAX_S
                )
                try:
                    if response.status != 200:
                        retry_after = response.header("Retry-After")
                        raise reader.failure(response.status, retry_after, await response.read())
                    async for line in response.lines():
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
                await asyncio.sleep(wait_s)


async def _body_of(response: Response) -> bytes:
    try:
        body = await response.read()
        if response.status != 200:
            raise failure(response.status, response.header("Retry-After"), body)
        return body
    finally:
        response.close()
