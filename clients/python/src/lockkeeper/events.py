"""What is told about requests and locks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lockkeeper._messages import enum_name, to_seconds
from lockkeeper.v1 import acquisition_pb2
from lockkeeper.v1 import types_pb2 as types


@dataclass(frozen=True)
class Grant:
    """Proof of ownership of one lock.

    ``fencing_token`` rises with every grant of the lock: hand it to what the lock protects, which must refuse any token below the highest
    that it has seen. ``previous_end`` says how the holder before this one ended (``RELEASED``, ``LEASE_EXPIRED``, ...). ``hold_count`` is
    how many acquisitions of the owner hold the lock, this one included. ``waiters`` is how many waited for it at the moment of the grant,
    where the request wanted to know.
    """

    name: str
    fencing_token: int
    previous_end: str
    hold_count: int
    waiters: int = 0


@dataclass(frozen=True)
class Contender:
    """A holder of a lock, or somebody who waits for it. Times are seconds; ``fencing_token`` is 0 for a waiter."""

    holder: str
    owner: str
    mode: str
    lease_tag: str
    request_id: str
    fencing_token: int
    metadata: Mapping[str, str]
    queued_for: float
    held_for: float
    permits: int
    release_in: float | None

    @staticmethod
    def _of(message: types.Contender) -> Contender:
        return Contender(
            message.holder,
            message.owner,
            message.custom or enum_name(message, "mode"),
            message.lease_tag,
            message.request_id,
            message.fencing_token,
            dict(message.metadata),
            to_seconds(message.queued_for),
            to_seconds(message.held_for),
            message.permits,
            to_seconds(message.release_in) if message.HasField("release_in") else None,
        )


@dataclass(frozen=True)
class Place:
    """The place in one lock's queue: how many are ahead, holders included, and who holds. ``frozen`` says why nobody new is granted it."""

    name: str
    ahead: int
    holders: tuple[Contender, ...]
    frozen: str | None

    @staticmethod
    def _all(positions: Any) -> tuple[Place, ...]:
        return tuple(
            Place(
                place.name,
                place.ahead,
                tuple(Contender._of(holder) for holder in place.holders),
                place.frozen.reason if place.HasField("frozen") else None,
            )
            for place in positions
        )


@dataclass(frozen=True)
class ReleaseRequested:
    """Somebody asks the holder to give way. ``deadline``: the seconds until the lock may be taken away by force; None: no limit."""

    name: str
    requester: str
    reason: str
    deadline: float | None

    @staticmethod
    def _of(message: acquisition_pb2.ReleaseRequested) -> ReleaseRequested:
        deadline = to_seconds(message.deadline) if message.HasField("deadline") else None
        return ReleaseRequested(message.name, message.requester, message.reason, deadline)


@dataclass(frozen=True)
class Contended:
    """Somebody waits for a lock that is held: how many do. ``frozen`` says why nobody new is granted it; then nobody may wait, too."""

    name: str
    waiters: int
    frozen: str | None

    @staticmethod
    def _of(message: acquisition_pb2.Contended) -> Contended:
        return Contended(message.name, message.waiters, message.frozen.reason if message.HasField("frozen") else None)


@dataclass(frozen=True)
class ReleaseResult:
    """What a release did.

    ``outcome``: ``RELEASED``, ``ALREADY_RELEASED``, ``DECREMENTED`` (one level of a reentrant hold was given back, and ``remaining_holds``
    are left), ``WITHDRAWN``, or ``LOST`` (the lock was lost, or its lease ended before a server had confirmed).
    """

    outcome: str
    remaining_holds: int = 0

    @staticmethod
    def _of(message: acquisition_pb2.ReleaseResponse | None) -> ReleaseResult:
        if message is None:
            return ReleaseResult("LOST")
        return ReleaseResult(enum_name(message, "outcome"), message.remaining_holds)


@dataclass(frozen=True)
class LockInfo:
    """One lock as a server sees it: who holds, how many wait, and the first of them."""

    name: str
    holders: tuple[Contender, ...]
    queue_length: int
    queue: tuple[Contender, ...]
    configured_limit: int = 0
    frozen: str | None = None
    revision: int = field(default=0, compare=False)

    @staticmethod
    def _of(message: types.LockState) -> LockInfo:
        return LockInfo(
            message.name,
            tuple(Contender._of(holder) for holder in message.holders),
            message.queue_length,
            tuple(Contender._of(waiter) for waiter in message.queue),
            message.configured_limit,
            message.frozen.reason if message.HasField("frozen") else None,
            message.revision,
        )
