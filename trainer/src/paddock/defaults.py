"""Clients for functions that a trainer calls by name, with nobody to hand them one."""

from __future__ import annotations

import functools
import os

from .async_client import AsyncClient
from .client import TIMEOUT_S, Client
from .mac import read_key

CLIENTS_MAX = 16


@functools.lru_cache(maxsize=CLIENTS_MAX)
def client(
    socket: str | None = None,
    url: str | None = None,
    token_file: str | None = None,
    key_file: str | None = None,
    timeout: float = TIMEOUT_S,
) -> Client:
    """One for each set of arguments in this process."""
    return Client(socket, url=url, token=_token(token_file), key=_key(key_file), timeout=timeout)


@functools.lru_cache(maxsize=CLIENTS_MAX)
def async_client(
    socket: str | None = None,
    url: str | None = None,
    token_file: str | None = None,
    key_file: str | None = None,
    timeout: float = TIMEOUT_S,
) -> AsyncClient:
    return AsyncClient(
        socket, url=url, token=_token(token_file), key=_key(key_file), timeout=timeout
    )


def _key(path: str | None) -> bytes | None:
    path = path or os.environ.get("PADDOCK_KEY_FILE")
    return read_key(path) if path else None


def _token(path: str | None) -> str | None:
    """From a file: a token on a command line or in a configuration is in every log of it."""
    if not path:
        return None
    with open(path, encoding="ascii") as file:
        return file.read().strip()
