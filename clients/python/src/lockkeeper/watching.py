"""What a watch tells."""

from __future__ import annotations

from dataclasses import dataclass

from lockkeeper._messages import enum_name
from lockkeeper.events import Contender, LockInfo
from lockkeeper.v1 import watch_pb2


@dataclass(frozen=True)
class Snapshot:
    """Part of the state at the beginning: one lock that is in use."""

    lock: LockInfo


@dataclass(frozen=True)
class SnapshotEnd:
    """The snapshot is complete."""


@dataclass(frozen=True)
class Change:
    """A lock has changed.

    ``cause``: ``QUEUED``, ``GRANTED``, ``RELEASED``, ``WITHDRAWN``, ``LEASE_ENDED``, ...; ``contender``: to whom it happened; both are left
    out (``UNSPECIFIED``, None) where ``coalesced`` says that this stands for several changes.
    """

    name: str
    cause: str
    contender: Contender | None
    holders: tuple[Contender, ...]
    queue_length: int
    coalesced: int


@dataclass(frozen=True)
class Gap:
    """Events may be missing: forget what was known, a new snapshot follows."""

    reason: str


WatchEvent = Snapshot | SnapshotEnd | Change | Gap


def to_event(message: watch_pb2.WatchResponse) -> WatchEvent | None:
    """Reads an event; None: one that only a later server knows."""
    kind = message.WhichOneof("event")
    if kind == "snapshot":
        return Snapshot(LockInfo._of(message.snapshot))
    if kind == "snapshot_end":
        return SnapshotEnd()
    if kind == "gap":
        return Gap(message.gap.reason)
    if kind == "change":
        change = message.change
        return Change(
            change.name,
            enum_name(change, "cause"),
            Contender._of(change.contender) if change.HasField("contender") else None,
            tuple(Contender._of(holder) for holder in change.holders),
            change.queue_length,
            change.coalesced,
        )
    return None
