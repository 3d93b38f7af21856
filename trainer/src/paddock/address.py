"""Where the daemon is, and how one shows that one may ask."""

from __future__ import annotations

import os
from dataclasses import dataclass
from urllib.parse import urlsplit

LOOPBACK_HOSTS = ("127.0.0.1", "::1", "localhost")
SOCKET_PATH_BYTES_MAX = 107  # of Linux, without the zero at its end


@dataclass(frozen=True)
class Address:
    """A Unix socket, or a host and port with a token."""

    socket: str | None = None
    host: str = ""
    port: int = 0
    token: str | None = None

    def headers(self) -> dict[str, str]:
        headers = {"Host": self.host_header(), "Accept": "application/json, application/x-ndjson"}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        return headers

    def host_header(self) -> str:
        if self.socket is not None:
            return "paddock"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def __str__(self) -> str:
        return self.socket if self.socket is not None else f"http://{self.host_header()}"

    def __repr__(self) -> str:  # the token stays out of logs
        return f"Address({self!s})"


def address(
    socket: str | os.PathLike[str] | None = None, url: str | None = None, token: str | None = None
) -> Address:
    """Neither `socket` nor `url`: $PADDOCK_TRAINER_SOCKET, or where paddockd puts trainer.sock."""
    if socket is not None and url is not None:
        raise ValueError("either a socket or a url")
    if url is None:
        if token is not None:
            raise ValueError("a token is for a url: on a Unix socket the kernel says who asks")
        path = os.fspath(socket) if socket is not None else default_socket()
        if len(os.fsencode(path)) > SOCKET_PATH_BYTES_MAX:
            raise ValueError(f"the path of a socket has at most {SOCKET_PATH_BYTES_MAX} bytes")
        return Address(socket=path)
    parts = urlsplit(url)
    if parts.scheme != "http" or not parts.hostname or parts.port is None:
        raise ValueError(f"{url!r}: a url is http://127.0.0.1:PORT")
    if parts.hostname not in LOOPBACK_HOSTS:
        raise ValueError(f"{url!r}: a daemon listens on 127.0.0.1 or [::1] alone")
    if parts.path not in ("", "/") or parts.query or parts.fragment or parts.username:
        raise ValueError(f"{url!r}: a url has a host and a port, no more")
    if token is not None and (not token.isascii() or not token.isprintable() or " " in token):
        raise ValueError("a token is printable ASCII without spaces")
    return Address(host=parts.hostname, port=parts.port, token=token)


def default_socket() -> str:
    named = os.environ.get("PADDOCK_TRAINER_SOCKET")
    if named:
        return named
    if os.geteuid() == 0:
        return "/run/paddock/trainer.sock"
    if runtime := _absolute("XDG_RUNTIME_DIR"):
        return f"{runtime}/paddock/trainer.sock"
    state = _absolute("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return f"{state}/paddock/run/trainer.sock"


def _absolute(variable: str) -> str | None:
    """XDG says to ignore any other path."""
    value = os.environ.get(variable, "")
    return value if value.startswith("/") else None
