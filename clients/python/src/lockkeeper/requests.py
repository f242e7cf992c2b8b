"""What to ask for: locks, and how. What is out of range is refused here, before anything is sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from lockkeeper._messages import to_duration
from lockkeeper.v1 import acquisition_pb2
from lockkeeper.v1 import types_pb2 as types

_DAYS_7 = 7 * 86_400.0


def _require(ok: bool, name: str, rule: str, value: object) -> None:
    if not ok:
        shown = repr(value)
        raise ValueError(f"{name} must be {rule}, not {shown if len(shown) <= 80 else shown[:80] + '…'}")


def _require_type(ok: bool, name: str, rule: str, value: object) -> None:
    if not ok:
        raise TypeError(f"{name} must be {rule}, not {type(value).__name__}")


def label(name: str, value: str) -> str:
    """Checks who somebody is: up to 256 bytes of UTF-8."""
    _require_type(isinstance(value, str), name, "a str", value)
    _require(len(value.encode()) <= 256, name, "256 bytes at most", value)
    return value


def seconds(name: str, value: float, least: float, most: float) -> float:
    """Checks a number of seconds."""
    _require_type(isinstance(value, int | float), name, "a number of seconds", value)
    _require(least <= value <= most, name, f"{least:g} to {most:g} seconds", value)
    return value


def lock_name(name: str) -> str:
    """Checks a lock's name."""
    _require_type(isinstance(name, str), "name", "a str", name)
    _require(1 <= len(name.encode()) <= 512, "name", "1 to 512 bytes of UTF-8", name)
    _require(not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in name), "name", "without control characters", name)
    segments = name.split("/")
    _require(len(segments) <= 16, "name", "of 16 segments at most", name)
    _require(all(s not in ("", ".", "..") for s in segments), "name", 'without empty segments, "." and ".."', name)
    return name


def checked_metadata(metadata: Mapping[str, str]) -> dict[str, str]:
    """Checks what others can see: up to 32 entries, 4 KiB in all, keys not empty."""
    strings = isinstance(metadata, Mapping) and all(isinstance(part, str) for item in metadata.items() for part in item)
    _require_type(strings, "metadata", "a mapping of str to str", metadata)
    size = sum(len(k.encode()) + len(v.encode()) for k, v in metadata.items())
    _require(len(metadata) <= 32, "metadata", "32 entries at most", len(metadata))
    _require(size <= 4096, "metadata", "4096 bytes at most in all", size)
    _require(all(metadata), "metadata", "without empty keys", "")
    return dict(metadata)


@dataclass(frozen=True)
class LockSpec:
    """One lock of a request and how it is to be held; made by `exclusive`, `read`, `write`, `permits` and `custom`.

    A name has 1 to 512 bytes of UTF-8, no control characters, and at most 16 segments separated by ``/``, none of them empty, ``.`` or
    ``..``.

    Raises:
        ValueError: the name breaks these rules, or permits are out of range.
    """

    name: str
    _mode: types.LockMode = types.LOCK_MODE_EXCLUSIVE
    _permits: int = 0
    _limit: int = 0
    _custom: str = ""

    def __post_init__(self) -> None:
        lock_name(self.name)

    @property
    def _excludes(self) -> bool:
        return self._mode in (types.LOCK_MODE_EXCLUSIVE, types.LOCK_MODE_WRITE)

    @property
    def _counts(self) -> bool:
        return self._mode in (types.LOCK_MODE_PERMITS, types.LOCK_MODE_CUSTOM)  # what a custom mode does, no client knows

    def _message(self) -> acquisition_pb2.LockRequest:
        return acquisition_pb2.LockRequest(
            name=self.name,
            mode=self._mode,
            permits=self._permits,
            limit=self._limit,
            custom=self._custom,
        )


def exclusive(name: str) -> LockSpec:
    """One holder at a time."""
    return LockSpec(name)


def read(name: str) -> LockSpec:
    """Shared with other readers, excludes writers."""
    return LockSpec(name, types.LOCK_MODE_READ)


def write(name: str) -> LockSpec:
    """The writing side of a read/write lock."""
    return LockSpec(name, types.LOCK_MODE_WRITE)


def permits(name: str, count: int, limit: int = 0) -> LockSpec:
    """Some of the permits of a lock.

    ``limit`` is how many it has in all, up to 1,000,000; 0: as it was configured, or as others in the queue have named it.
    """
    _require_type(isinstance(limit, int), "limit", "an int", limit)
    _require_type(isinstance(count, int), "permits", "an int", count)
    _require(0 <= limit <= 1_000_000, "limit", "1 to 1,000,000, or 0", limit)
    most = limit or 1_000_000
    _require(1 <= count <= most, "permits", f"1 to the limit, which is {most}", count)
    return LockSpec(name, types.LOCK_MODE_PERMITS, count, limit)


def custom(name: str, mode: str) -> LockSpec:
    """A mode of a kind that the servers were extended with."""
    _require_type(isinstance(mode, str), "mode", "a str", mode)
    _require(bool(mode), "mode", "named", mode)
    return LockSpec(name, types.LOCK_MODE_CUSTOM, _custom=mode)


class LockOptions(TypedDict, total=False):
    """The fields of a `LockRequest` besides its locks, as keyword arguments."""

    wait: float | None
    owner: str
    holder: str | None
    metadata: Mapping[str, str]
    max_hold: float | None
    lock_delay: float
    position_interval: float | None
    deadlock_check: bool | None
    notify_contention: bool
    keep_unused: float | None


@dataclass(frozen=True)
class LockRequest:
    """A request for one lock or for several, which are granted together or not at all.

    Args:
        locks: a name (an exclusive lock), a `LockSpec`, or 1 to 64 of either, each name once.
        wait: the longest wait in seconds, 0 (only if free at once) to 7 days; None: as long as it takes.
        owner: who asks inside this client, up to 256 bytes. What an owner holds in the same mode it is granted again at once.
        holder: who asks, human-readable, up to 256 bytes; None: the client's holder.
        metadata: shown to others: up to 32 entries, 4 KiB in all.
        max_hold: the longest hold in seconds, 0.1 to 7 days; then the locks are lost.
        lock_delay: if this holder is lost rather than releases, how many seconds the next grant waits: 0 to 3600.
        position_interval: how often a change of the place in the queue is told at most, 0.1 to 3600 seconds; None: not told.
        deadlock_check: whether the request takes part in the search for cycles of waits; None: if it has an owner.
        notify_contention: whether the holder is told when somebody waits for the locks, once for a hold: see ``Listener.on_contended``.
        keep_unused: for how many seconds the client may keep the locks unused after their release, 0.1 to 3600, and grant them to the next
            alike request of its own without a message, as long as nobody else wants them; None: not at all. Alike are requests with
            ``keep_unused`` for the same locks in the same order and modes, with the same ``lock_delay``; others go on seeing the
            ``holder`` and the ``metadata`` of the one that was sent. Successive users have the same token, so what the locks protect
            cannot tell them apart. ``owner`` counts inside the client alone, and no cycle of waits is found among such requests; what an
            owner would wait for itself is refused (``WOULD_DEADLOCK``). Not together with ``max_hold``.

    Raises:
        ValueError: a field is out of range; the message names it.
    """

    locks: str | LockSpec | Sequence[str | LockSpec]
    wait: float | None = None
    owner: str = ""
    holder: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    max_hold: float | None = None
    lock_delay: float = 0.0
    position_interval: float | None = None
    deadlock_check: bool | None = None
    notify_contention: bool = False
    keep_unused: float | None = None

    def __post_init__(self) -> None:
        given: Any = self.locks
        asked = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
        for lock in asked:
            _require_type(isinstance(lock, str | LockSpec), "locks", "a name, a LockSpec, or a list of them", lock)
        specs = tuple(exclusive(lock) if isinstance(lock, str) else lock for lock in asked)
        _require(1 <= len(specs) <= 64, "locks", "1 to 64", len(specs))
        _require(len({spec.name for spec in specs}) == len(specs), "locks", "named once each", [s.name for s in specs])
        object.__setattr__(self, "locks", specs)
        object.__setattr__(self, "metadata", checked_metadata(self.metadata))
        label("owner", self.owner)
        if self.holder is not None:
            label("holder", self.holder)
        if self.wait is not None:
            seconds("wait", self.wait, 0, _DAYS_7)
        if self.max_hold is not None:
            seconds("max_hold", self.max_hold, 0.1, _DAYS_7)
        seconds("lock_delay", self.lock_delay, 0, 3600)
        if self.position_interval is not None:
            seconds("position_interval", self.position_interval, 0.1, 3600)
        if self.keep_unused is not None:
            seconds("keep_unused", self.keep_unused, 0.1, 3600)
            if self.max_hold is not None:
                raise ValueError("keep_unused and max_hold must not be given together")
        _require_type(isinstance(self.notify_contention, bool), "notify_contention", "a bool", self.notify_contention)

    @property
    def specs(self) -> tuple[LockSpec, ...]:
        """The locks, in the order in which they were asked for."""
        return self.locks  # type: ignore[return-value]  # __post_init__ has made it so

    def __str__(self) -> str:
        return ", ".join(f'"{spec.name}"' for spec in self.specs)

    def _message(
        self, request_id: str, wait: float | None, tokens: Sequence[int], max_hold: float | None
    ) -> acquisition_pb2.AcquireRequest:
        optional: dict[str, Any] = {}
        if wait is not None:
            optional["wait_timeout"] = to_duration(max(0.0, wait))
        if max_hold is not None:
            optional["max_hold"] = to_duration(max(0.1, max_hold))
        if self.position_interval is not None:
            optional["position_interval"] = to_duration(self.position_interval)
        if self.lock_delay:
            optional["lock_delay"] = to_duration(round(self.lock_delay, 3))
        check = acquisition_pb2.DEADLOCK_CHECK_UNSPECIFIED
        if self.deadlock_check is not None:
            check = acquisition_pb2.DEADLOCK_CHECK_ON if self.deadlock_check else acquisition_pb2.DEADLOCK_CHECK_OFF
        return acquisition_pb2.AcquireRequest(
            request_id=request_id,
            locks=[spec._message() for spec in self.specs],
            owner=self.owner,
            holder=self.holder or "",
            metadata=self.metadata,
            held_tokens=tokens,
            deadlock_check=check,
            notify_contention=self.notify_contention,
            **optional,
        )
