"""HTTP/1.1 to the daemon for threads: http.client over a Unix socket or TCP, one deadline over all
of a call, and connections that are used again."""

from __future__ import annotations

import http.client
import os
import socket
import threading
from collections.abc import Iterator
from typing import Any

from .address import Address
from .lines import Lines
from .retry import Deadline, Interrupted

BODY_BYTES_MAX = 64 * 1024 * 1024
IDLE_CONNECTIONS_MAX = 8
READ_BYTES = 64 * 1024


class _Socket(socket.socket):
    """Each wait ends at the deadline of the call, however slowly bytes trickle in."""

    deadline: Deadline = Deadline(None)
    idle_s: float | None = None

    def arm(self) -> None:
        left_s = self.deadline.left_s()
        if left_s == 0.0:
            raise TimeoutError("timed out")
        waits = [wait for wait in (left_s, self.idle_s) if wait is not None]
        self.settimeout(min(waits, default=None))

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        self.arm()
        return super().recv_into(*args, **kwargs)

    def sendall(self, *args: Any, **kwargs: Any) -> None:
        self.arm()
        super().sendall(*args, **kwargs)


class _Connection(http.client.HTTPConnection):
    def __init__(self, address: Address, deadline: Deadline, idle_s: float | None) -> None:
        super().__init__(address.host or "paddock", address.port or None)
        self._address = address
        self._deadline = deadline
        self._idle_s = idle_s

    def connect(self) -> None:
        if self._address.socket is not None:
            self.sock = self._connected(socket.AF_UNIX, self._address.socket)
            return
        family, _, _, _, where = socket.getaddrinfo(
            self._address.host, self._address.port, type=socket.SOCK_STREAM
        )[0]
        self.sock = self._connected(family, where)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def use_for(self, deadline: Deadline, idle_s: float | None) -> None:
        self._deadline, self._idle_s = deadline, idle_s
        if isinstance(self.sock, _Socket):
            self.sock.deadline, self.sock.idle_s = deadline, idle_s

    def _connected(self, family: int, where: Any) -> _Socket:
        connection = _Socket(family, socket.SOCK_STREAM)
        try:
            connection.deadline, connection.idle_s = self._deadline, self._idle_s
            connection.arm()
            connection.connect(where)
        except BaseException:
            connection.close()
            raise
        return connection


class Response:
    """The head of an answer, and its body as it comes."""

    def __init__(self, pool: Connections, connection: _Connection) -> None:
        self._pool = pool
        self._connection: _Connection | None = connection
        self._response = connection.getresponse()
        self.status = self._response.status

    def header(self, name: str) -> str | None:
        return self._response.getheader(name)

    def read(self) -> bytes:
        length = self._response.length
        if length is not None and length > BODY_BYTES_MAX:
            raise Interrupted(f"a body has over {BODY_BYTES_MAX} bytes", is_nonsense=True)
        with _told():
            body = self._response.read(BODY_BYTES_MAX + 1)
            if length is not None and len(body) < length:
                raise Interrupted("the connection ended within the answer")
            if len(body) > BODY_BYTES_MAX:
                raise Interrupted(f"a body has over {BODY_BYTES_MAX} bytes", is_nonsense=True)
            self._response.read(1)  # the end of a body in chunks
        self._keep()
        return body

    def lines(self) -> Iterator[bytes]:
        """Interrupted if the connection ends before the body does."""
        if not self._response.chunked:
            yield from self.read().split(b"\n")
            return
        lines = Lines()
        while True:
            with _told():
                data = self._response.read1(READ_BYTES)
            if not data:
                self._keep()
                yield from lines.feed(b"\n")  # the last one, if it has no end of its own
                return
            yield from lines.feed(data)

    def close(self) -> None:
        """A connection with the rest of an answer in it is of no use to anybody."""
        if self._connection is not None:
            self._response.close()
            self._connection.close()
            self._connection = None

    def _keep(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None and not self._response.will_close:
            self._pool.put(connection)
        elif connection is not None:
            connection.close()


class Connections:
    """To one address. Threads share it; a forked child starts with none."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._idle: list[_Connection] = []
        self._lock = threading.Lock()
        self._pid = os.getpid()

    def request(
        self,
        method: str,
        target: str,
        body: bytes | None,
        deadline: Deadline,
        idle_s: float | None = None,
    ) -> Response:
        """Interrupted if there is no answer. Close the response, unless it was read to its end."""
        connection = self._take()
        if connection is not None:
            connection.use_for(deadline, idle_s)
            try:
                return self._ask(connection, method, target, body)
            except Interrupted:
                if deadline.is_over():
                    raise
                # It was closed while nobody looked. A new one says whether the daemon is there.
        return self._ask(_Connection(self._address, deadline, idle_s), method, target, body)

    def put(self, connection: _Connection) -> None:
        with self._lock:
            if len(self._idle) < IDLE_CONNECTIONS_MAX and self._pid == os.getpid():
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _ask(
        self, connection: _Connection, method: str, target: str, body: bytes | None
    ) -> Response:
        headers = self._address.headers()
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            with _told(self._address):
                try:
                    connection.request(method, target, body=body, headers=headers)
                except (BrokenPipeError, ConnectionResetError):
                    # It refused before it had read all: the answer may be there already.
                    if connection.sock is None:
                        raise
                return Response(self, connection)
        except BaseException:
            connection.close()
            raise

    def _take(self) -> _Connection | None:
        with self._lock:
            if self._pid != os.getpid():  # the parent's: its answers and ours would get mixed
                self._pid = os.getpid()
                while self._idle:
                    self._idle.pop().close()
            return self._idle.pop() if self._idle else None


class _told:
    """What goes wrong on a connection, in this package's words."""

    def __init__(self, address: Address | None = None) -> None:
        self._address = address

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        if isinstance(error, (OSError, http.client.HTTPException)):
            raise interrupted_by(error, self._address) from None


def interrupted_by(error: Exception, address: Address | None = None) -> Interrupted:
    where = f"{address}: " if address is not None else ""
    if isinstance(error, TimeoutError):
        return Interrupted(f"{where}timed out")
    if isinstance(error, http.client.RemoteDisconnected):
        return Interrupted(f"{where}the connection ended without an answer")
    if isinstance(error, http.client.IncompleteRead):
        return Interrupted(f"{where}the connection ended within the answer")
    if isinstance(error, http.client.HTTPException):
        return Interrupted(f"{where}no HTTP: {type(error).__name__} {error}", is_nonsense=True)
    # Nobody will change the mode of the socket while we wait.
    return Interrupted(f"{where}{error}", is_final=isinstance(error, PermissionError))
