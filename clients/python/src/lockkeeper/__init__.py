"""Locks across services, by Lockkeeper: a client for asyncio (`AsyncClient`) and one that blocks (`Client`)."""

from lockkeeper.aio import AsyncClient, AsyncLock, Listener
from lockkeeper.blocking import Client, Lock
from lockkeeper.election import AsyncElection, Leader
from lockkeeper.errors import (
    ClosedError,
    LeaseLostError,
    LockkeeperError,
    LockLostError,
    NotAcquiredError,
    RequestRefusedError,
    ServerUnavailableError,
)
from lockkeeper.events import Contended, Contender, Grant, LockInfo, Place, ReleaseRequested, ReleaseResult
from lockkeeper.observer import Observation, Observer
from lockkeeper.requests import LockRequest, LockSpec, custom, exclusive, permits, read, write
from lockkeeper.watching import Change, Gap, Snapshot, SnapshotEnd, WatchEvent

__all__ = [
    "AsyncClient",
    "AsyncElection",
    "AsyncLock",
    "Change",
    "Client",
    "ClosedError",
    "Contended",
    "Contender",
    "Gap",
    "Grant",
    "Leader",
    "LeaseLostError",
    "Listener",
    "Lock",
    "LockInfo",
    "LockLostError",
    "LockRequest",
    "LockSpec",
    "LockkeeperError",
    "NotAcquiredError",
    "Observation",
    "Observer",
    "Place",
    "ReleaseRequested",
    "ReleaseResult",
    "RequestRefusedError",
    "ServerUnavailableError",
    "Snapshot",
    "SnapshotEnd",
    "WatchEvent",
    "custom",
    "exclusive",
    "permits",
    "read",
    "write",
]
