"""Rewards that the code under test cannot write: the trainer's side of paddockd."""

from .async_client import AsyncClient
from .client import Client
from .errors import (
    FeedPruned,
    ForgedVerdict,
    InfrastructureError,
    PaddockError,
    RequestRefused,
    TooManyInvalid,
    Unavailable,
)
from .extract import last_code_block
from .feed import FeedDamaged, FeedEntry, FeedGroup, FeedVerdict
from .items import AssertTests, CallCase, CallTests, Item, StdioCase, StdioTests, Tests
from .mac import read_key
from .options import Options
from .verdict import CaseVerdict, Group, Verdict

__version__ = "0.1.0"

__all__ = [
    "AssertTests",
    "AsyncClient",
    "CallCase",
    "CallTests",
    "CaseVerdict",
    "Client",
    "FeedDamaged",
    "FeedEntry",
    "FeedGroup",
    "FeedPruned",
    "FeedVerdict",
    "ForgedVerdict",
    "Group",
    "InfrastructureError",
    "Item",
    "Options",
    "PaddockError",
    "RequestRefused",
    "StdioCase",
    "StdioTests",
    "Tests",
    "TooManyInvalid",
    "Unavailable",
    "Verdict",
    "last_code_block",
    "read_key",
]
