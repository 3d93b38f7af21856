"""HTTP/1.1 to the daemon for asyncio, over its own streams and not over threads: a request that is
cancelled closes its connection at once, which is how the daemon learns that nobody waits any more,
and a thousand requests cost no thousand threads."""

from __future__ import annotations

import asyncio
import http.client
import io
from collections.abc import AsyncIterator, Awaitable
from email.message import Message
from typing import TypeVar

from ._http import BODY_BYTES_MAX, IDLE_CONNECTIONS_MAX, READ_BYTES, interrupted_by
from .address import Address
from .lines import Lines
from .retry import Deadline, Interrupted

HEAD_BYTES_MAX = 64 * 1024
CONNECTIONS_MAX = 64  # the daemon has 512 for all its clients

T = TypeVar("T")


class _Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer
        self.deadline = Deadline(None)
        self.idle_s: float | None = None
        self._is_expired = False

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.within(self.writer.drain())

    async def read(self, size: int) -> bytes:
        data = await self.read_rest(size)
        if not data:
            raise Interrupted("the connection ended within the answer")
        return data

    async def read_rest(self, size: int = READ_BYTES) -> bytes:
        data = await self.within(self._reader.read(size))
        if self._is_expired:
            raise TimeoutError
        return data

    async def read_until(self, end: bytes) -> bytes:
        try:
            return await self.within(self._reader.readuntil(end))
        except asyncio.IncompleteReadError:
            if self._is_expired:
                raise TimeoutError from None
            raise

    async def within(self, waited: Awaitable[T]) -> T:
        """Not asyncio.wait_for: before Python 3.12 it can swallow a cancellation."""
        waits = [wait for wait in (self.deadline.left_s(), self.idle_s) if wait is not None]
        if not waits:
            return await waited
        timer = asyncio.get_running_loop().call_later(min(waits), self._expire)
        try:
            return await waited
        except OSError:
            if self._is_expired:
                raise TimeoutError from None
            raise
        finally:
            timer.cancel()

    def _expire(self) -> None:
        self._is_expired = True
        self.close()

    def close(self) -> None:
        try:
            self.writer.transport.abort()
        except RuntimeError:
            pass  # its event loop is gone, and the connection with it


class Response:
    def __init__(self, pool: Connections, connection: _Connection, head: bytes) -> None:
        self._pool = pool
        self._connection: _Connection | None = connection
        self.status, self._headers = _parse_head(head)
        self._is_chunked = (self.header("Transfer-Encoding") or "").lower() == "chunked"
        self._length = _length_of(self._headers)

    def header(self, name: str) -> str | None:
        return self._headers.get(name)

    async def read(self) -> bytes:
        parts: list[bytes] = []
        size = 0
        async for part in self._parts():
            parts.append(part)
            size += len(part)
            if size > BODY_BYTES_MAX:
                raise Interrupted(f"a body has over {BODY_BYTES_MAX} bytes", is_nonsense=True)
        return b"".join(parts)

    async def lines(self) -> AsyncIterator[bytes]:
        """Interrupted if the connection ends before the body does."""
        lines = Lines()
        async for part in self._parts():
            for line in lines.feed(part):
                yield line
        for line in lines.feed(b"\n"):  # the last one, if it has no end of its own
            yield line

    def close(self) -> None:
        if self._connection is not None:
            self._pool.drop(self._connection)
            self._connection = None

    async def _parts(self) -> AsyncIterator[bytes]:
        connection = self._connection
        if connection is None:
            return
        if self._length is not None and self._length > BODY_BYTES_MAX:
            raise Interrupted(f"a body has over {BODY_BYTES_MAX} bytes", is_nonsense=True)
        try:
            if self._is_chunked:
                while size := _chunk_size(await connection.read_until(b"\r\n")):
                    async for part in _exactly(connection, size):
                        yield part
                    if await connection.read_until(b"\r\n") != b"\r\n":
                        raise Interrupted("a chunk is longer than it says", is_nonsense=True)
                while await connection.read_until(b"\r\n") != b"\r\n":
                    pass  # trailers
            elif self._length is not None:
                async for part in _exactly(connection, self._length):
                    yield part
            else:
                while part := await connection.read_rest():
                    yield part
        except _FAULTS as error:
            raise _interrupted_by(error) from None
        self._keep()

    def _keep(self) -> None:
        connection, self._connection = self._connection, None
        has_end = self._is_chunked or self._length is not None
        if connection is None:
            return
        if has_end and (self.header("Connection") or "").lower() != "close":
            self._pool.put(connection)
        else:
            self._pool.drop(connection)


class Connections:
    """To one address. One event loop at a time uses them."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._idle: list[_Connection] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._slots = asyncio.Semaphore(CONNECTIONS_MAX)

    async def request(
        self,
        method: str,
        target: str,
        body: bytes | None,
        deadline: Deadline,
        idle_s: float | None = None,
    ) -> Response:
        """Interrupted if there is no answer. Close the response, unless it was read to its end."""
        self._use_running_loop()
        await self._take_slot(deadline)
        connection = self._idle.pop() if self._idle else None
        if connection is not None:
            try:
                return await self._ask(connection, method, target, body, deadline, idle_s)
            except Interrupted:
                if deadline.is_over():
                    self._slots.release()
                    raise
                # It was closed while nobody looked. A new one says whether the daemon is there.
            except BaseException:
                self._slots.release()
                raise
        try:
            connection = await self._open(deadline)
            return await self._ask(connection, method, target, body, deadline, idle_s)
        except BaseException:
            self._slots.release()
            raise

    def put(self, connection: _Connection) -> None:
        self._slots.release()
        if len(self._idle) < IDLE_CONNECTIONS_MAX:
            self._idle.append(connection)
        else:
            connection.close()

    def drop(self, connection: _Connection) -> None:
        self._slots.release()
        connection.close()

    def close(self) -> None:
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    async def _ask(
        self,
        connection: _Connection,
        method: str,
        target: str,
        body: bytes | None,
        deadline: Deadline,
        idle_s: float | None,
    ) -> Response:
        connection.deadline, connection.idle_s = deadline, idle_s
        try:
            try:
                await connection.send(self._head(method, target, body) + (body or b""))
            except (BrokenPipeError, ConnectionResetError):
                pass  # it refused before it had read all: the answer may be there already
            return Response(self, connection, await connection.read_until(b"\r\n\r\n"))
        except _FAULTS as error:
            connection.close()
            raise _interrupted_by(error, self._address) from None
        except BaseException:
            connection.close()
            raise

    async def _open(self, deadline: Deadline) -> _Connection:
        try:
            where = self._address
            if where.socket is not None:  # at once, or not at all
                opened = await asyncio.open_unix_connection(where.socket, limit=HEAD_BYTES_MAX)
            else:
                opened = await asyncio.wait_for(
                    asyncio.open_connection(where.host, where.port, limit=HEAD_BYTES_MAX),
                    deadline.left_s(),
                )
        except _FAULTS as error:
            raise _interrupted_by(error, self._address) from None
        return _Connection(*opened)

    def _head(self, method: str, target: str, body: bytes | None) -> bytes:
        headers = self._address.headers()
        if body is not None:
            headers["Content-Type"] = "application/json"
            headers["Content-Length"] = str(len(body))
        lines = [f"{method} {target} HTTP/1.1", *(f"{k}: {v}" for k, v in headers.items())]
        return "".join(line + "\r\n" for line in [*lines, ""]).encode("ascii")

    async def _take_slot(self, deadline: Deadline) -> None:
        waiting = asyncio.ensure_future(self._slots.acquire())
        try:
            done, _ = await asyncio.wait({waiting}, timeout=deadline.left_s())
        except BaseException:
            if not waiting.cancel():  # it had been acquired
                self._slots.release()
            raise
        if not done:
            waiting.cancel()
            raise Interrupted(f"{self._address}: timed out")

    def _use_running_loop(self) -> None:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:  # one asyncio.run() after another
            self.close()
            self._loop = loop
            self._slots = asyncio.Semaphore(CONNECTIONS_MAX)


_FAULTS = (
    OSError,
    EOFError,  # asyncio.IncompleteReadError
    asyncio.LimitOverrunError,
    asyncio.TimeoutError,  # OSError's TimeoutError only from Python 3.11 on
    http.client.HTTPException,
)


def _interrupted_by(error: Exception, address: Address | None = None) -> Interrupted:
    if isinstance(error, asyncio.TimeoutError):
        return interrupted_by(TimeoutError(), address)
    if isinstance(error, asyncio.IncompleteReadError):
        return interrupted_by(http.client.IncompleteRead(b""), address)
    if isinstance(error, asyncio.LimitOverrunError):
        return interrupted_by(http.client.LineTooLong("head"), address)
    return interrupted_by(error, address)


def _parse_head(head: bytes) -> tuple[int, Message]:
    status_line, _, fields = head.partition(b"\r\n")
    words = status_line.split(None, 2)
    if len(words) < 2 or not words[0].startswith(b"HTTP/1.") or not words[1].isdigit():
        raise http.client.BadStatusLine(repr(status_line[:80]))
    return int(words[1]), http.client.parse_headers(io.BytesIO(fields))


def _length_of(headers: Message) -> int | None:
    length = headers.get("Content-Length")
    if length is None:
        return None
    if not length.isdigit():
        raise http.client.HTTPException(f"Content-Length: {length[:80]!r}")
    return int(length)


def _chunk_size(line: bytes) -> int:
    digits = line.split(b";", 1)[0].strip()
    if not digits or len(digits) > 16 or digits.strip(b"0123456789abcdefABCDEF"):
        raise http.client.HTTPException(f"a chunk's size is {line[:80]!r}")
    return int(digits, 16)


async def _exactly(connection: _Connection, size: int) -> AsyncIterator[bytes]:
    while size > 0:
        part = await connection.read(min(size, READ_BYTES))
        size -= len(part)
        yield part
