"""The client for asyncio."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import random
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from lockkeeper._acquisition import Acquisition, State
from lockkeeper._calls import Calls, Closings
from lockkeeper._clock import now
from lockkeeper._kept import Use
from lockkeeper._lease import MAX_REQUESTS, Lease, LeaseSettings
from lockkeeper._messages import to_duration
from lockkeeper._transport import Servers, Token, Transport, parse_servers
from lockkeeper.election import AsyncElection
from lockkeeper.errors import ClosedError, LockkeeperError, LockLostError, NotAcquiredError
from lockkeeper.events import Contended, Contender, Grant, LockInfo, Place, ReleaseRequested, ReleaseResult
from lockkeeper.observer import Observation, Observer, SafeObserver
from lockkeeper.requests import LockOptions, LockRequest, LockSpec, checked_metadata, label, seconds
from lockkeeper.v1 import acquisition_pb2, session_pb2
from lockkeeper.watching import WatchEvent

if TYPE_CHECKING:
    from typing_extensions import Unpack

LOG = logging.getLogger("lockkeeper")
_CLOSING = 5.0  # seconds for the end of the leases
_BREATH = 0.002  # seconds without a pause for the loop
_COUNTS = hasattr(asyncio.Task, "uncancel")  # Python 3.11
Locks = str | LockSpec | Sequence[str | LockSpec] | LockRequest


@dataclass(frozen=True)
class Listener:
    """What is called when something happens to a request, on the event loop; none of it may block. What it throws is logged.

    ``on_queued`` gets the places in the queues; ``on_release_requested`` says that somebody asks the holder to give way; ``on_jeopardy``
    that the servers have lost ZooKeeper, and for how many seconds the locks are good; ``on_safe`` that this is over; ``on_lost`` why the
    locks are not held any more; ``on_contended``, of a request with ``notify_contention``, that somebody waits for what is held: once for
    a hold, with the grant where somebody waits then.
    """

    on_queued: Callable[[tuple[Place, ...]], None] | None = None
    on_granted: Callable[[AsyncLock], None] | None = None
    on_release_requested: Callable[[ReleaseRequested], None] | None = None
    on_jeopardy: Callable[[float], None] | None = None
    on_safe: Callable[[], None] | None = None
    on_lost: Callable[[str], None] | None = None
    on_contended: Callable[[Contended], None] | None = None


class AsyncLock:
    """Locks that are held, or were: proof, guard and deadline.

    A distributed lock is no mutex: a process that pauses between `is_valid` and what it does next may act after the lock has passed on.
    Hand the `fencing_token` to what the lock protects and let that refuse any token below the highest that it has seen.
    """

    def __init__(self, client: AsyncClient, lease: Lease, acquisition: Acquisition, observation: Observation) -> None:
        self._client = client  # a lock that is held keeps its client alive
        self._lease = lease
        self._acquisition = acquisition
        self._observation = observation
        self._since = now()
        self._released = False
        self._lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    @property
    def name(self) -> str:
        """The lock's name; of several, the first one's."""
        return self.grants[0].name

    @property
    def grants(self) -> tuple[Grant, ...]:
        """The proof for each lock, in the order of the request."""
        return self._acquisition.grants

    @property
    def fencing_token(self) -> int:
        """Above zero, and higher than that of any holder before. Of several locks, the first one's."""
        return self.grants[0].fencing_token

    @property
    def previous_end(self) -> str:
        """How the holder before this one ended: ``RELEASED``, ``LEASE_EXPIRED``, ...; of several locks, the first one's."""
        return self.grants[0].previous_end

    @property
    def is_valid(self) -> bool:
        """Whether the locks may be used now: not released, not lost, deadline not passed."""
        return self._acquisition.state is State.HELD and self._lease.is_valid(self._acquisition)

    @property
    def remaining(self) -> float:
        """For how many seconds the locks may be used without another answer of a server; 0: not at all."""
        return max(0.0, self.valid_until - now()) if self.is_valid else 0.0

    @property
    def valid_until(self) -> float:
        """The deadline as a reading of the client's clock, in seconds. It moves on with every keep-alive that is answered."""
        return self._acquisition.until(self._lease.deadline)

    @property
    def lost_reason(self) -> str | None:
        """Why the locks were lost; None: they were not."""
        if self._acquisition.lost_reason:
            return self._acquisition.lost_reason
        if not self._released and not self.is_valid:  # timers may be late
            return "MAX_HOLD" if now() >= self._acquisition.hold_limit else "DEADLINE_PASSED"
        return None

    def check(self) -> None:
        """Returns if the locks may be used now.

        Raises:
            LockLostError: they are lost, or their deadline has passed.
            ClosedError: they were released.
        """
        reason = self.lost_reason
        if reason is not None:
            raise self._loss(reason)
        if self._released:
            raise ClosedError(f"{self._acquisition.request}: the lock was released")

    async def wait_lost(self) -> str:
        """Waits until the locks are lost, and returns why. Of locks that are released first, it never returns."""
        return await asyncio.shield(self._lost)

    async def update_metadata(self, metadata: Mapping[str, str]) -> None:
        """Replaces the metadata: those who wait or watch are told.

        Raises:
            ValueError: it is too much.
            LockLostError, ClosedError: the locks are not held any more.
            ServerUnavailableError, RequestRefusedError: it is not certain, or was refused.
        """
        checked = checked_metadata(metadata)
        self.check()
        request = acquisition_pb2.UpdateMetadataRequest(request_id=self._acquisition.request_id, metadata=checked)
        await self._lease.questions.ask("update_metadata", session_pb2.SessionRequest(update_metadata=request))

    async def answer_release(self, needs: float) -> None:
        """Says for how many seconds, up to 7 days, the locks are still needed. Errors are those of `update_metadata`."""
        seconds("needs", needs, 0, 7 * 86_400.0)
        self.check()
        request = acquisition_pb2.AnswerReleaseRequest(request_id=self._acquisition.request_id, needs=to_duration(needs))
        await self._lease.questions.ask("answer_release", session_pb2.SessionRequest(answer_release=request))

    async def release(self) -> ReleaseResult:
        """Releases the locks and waits until that is certain, for the request timeout at most.

        From the call on, `is_valid` is false. The release is sent again until it is certain, or the lease is over, also when this returns
        earlier, with ``LOST``, or is cancelled. Does not raise for locks that were lost.
        """
        if not self._released:
            reason = self.lost_reason
            self._released = True
            if reason is None:
                self._observation.on_released(now() - self._since)
            else:
                self._acquisition.lose(reason)
            if reason != "MAX_HOLD":  # that the server takes away
                self._lease.release(self._acquisition)
        ended = self._acquisition.ended
        # Of locks that were lost nobody need wait for the server's word.
        if not ended.done() and not self._acquisition.lost_reason:
            await asyncio.wait([ended], timeout=self._client.request_timeout)
        return ReleaseResult._of(ended.result() if ended.done() else None)

    def _on_lost(self, reason: str) -> None:
        if not self._lost.done():
            self._lost.set_result(reason)
            self._observation.on_lost(reason, now() - self._since)

    async def __aenter__(self) -> AsyncLock:
        self.check()
        return self

    async def __aexit__(self, kind: Any, error: BaseException | None, trace: TracebackType | None) -> None:
        reason = self.lost_reason
        await self.release()
        if reason is not None and error is None:
            raise self._loss(reason)

    def _loss(self, reason: str) -> LockLostError:
        return LockLostError(f"{self._acquisition.request}: the lock was lost: {reason}", reason)

    def __repr__(self) -> str:
        return f"<AsyncLock {self._acquisition.request} {self._acquisition.state.value}>"


class _Guard:
    """``async with client.lock(...)``: acquires, cancels the body when the locks are lost, releases."""

    def __init__(self, acquire: Callable[[], Awaitable[AsyncLock]], cancel_on_loss: bool = True) -> None:
        self._acquire = acquire
        self._cancel_on_loss = cancel_on_loss
        self._lock: AsyncLock | None = None
        self._task: asyncio.Task[Any] | None = None
        self._cancelled = False
        self._cancelled_before = 0

    async def __aenter__(self) -> AsyncLock:
        lock = self._lock = await self._acquire()
        if self._cancel_on_loss:
            task: Any = asyncio.current_task()
            self._task = task
            self._cancelled_before = task.cancelling() if _COUNTS else 0
            lock._lost.add_done_callback(self._cancel)
        return lock

    def _cancel(self, _: Any) -> None:
        if self._task is not None and not self._task.done():
            self._cancelled = True
            self._task.cancel()

    async def __aexit__(self, kind: Any, error: BaseException | None, trace: TracebackType | None) -> None:
        lock = self._lock
        if lock is None:
            return
        lock._lost.remove_done_callback(self._cancel)
        self._task = None
        reason = lock.lost_reason
        ours = self._cancelled and self._is_only_ours() and isinstance(error, asyncio.CancelledError)
        await lock.release()
        if reason is not None and (error is None or ours):
            raise lock._loss(reason) from error

    def _is_only_ours(self) -> bool:
        """Takes the cancellation back; whether nobody else has cancelled the task, too. Before Python 3.11 nobody can tell."""
        task: Any = asyncio.current_task()
        return not _COUNTS or task.uncancel() <= self._cancelled_before


class AsyncClient:
    """A client for asyncio: acquires locks, keeps its lease alive, and knows without a server until when its locks may be used.

    Make one per process and event loop, and share it among tasks::

        async with AsyncClient("lock1:7420,lock2:7420") as client:
            async with client.lock("orders/42") as lock:
                await stock.decrement(item, lock.fencing_token)

    The client has one lease, opened when a lock is first asked for. When the connection breaks, the server is silent or goes away, the
    lease is resumed at the next server: requests keep their places, and locks their tokens. Only when the lease ends are its locks lost.

    Args:
        servers: ``host:port``, or several separated by commas; the port may be left out and is 7420 then. Of a name with several addresses
            each is a server. It may begin with ``dns:///``.
        ttl: how many seconds the lease lives without a keep-alive, 2 to 3600; None: as the server says, commonly 15.
        holder: who the client is, human-readable, up to 256 bytes; empty: the server shows its address.
        request_timeout: how many seconds a server may take to be reached and to answer. A wait in a queue is not limited by it.
        tls: whether to encrypt; trusts the system's authorities, or those in the PEM file ``ca``.
        certificate, key: PEM files for mutual TLS, read again for each connection.
        token: returns the bearer token of the moment, or an awaitable of it; asked for each stream and call. It goes out over TLS only,
            or to this machine. If it raises, that counts as a server that cannot be reached.
        observer: is told what the client does.

    Raises:
        ValueError: an argument is out of range; the message names it.
    """

    def __init__(
        self,
        servers: str,
        *,
        ttl: float | None = None,
        holder: str = "",
        request_timeout: float = 15.0,
        tls: bool = False,
        ca: str | os.PathLike[str] | None = None,
        certificate: str | os.PathLike[str] | None = None,
        key: str | os.PathLike[str] | None = None,
        token: Token | None = None,
        observer: Observer | None = None,
        _first: int | None = None,
    ) -> None:
        targets = parse_servers(servers)
        if ttl is not None:
            seconds("ttl", ttl, 2, 3600)
        if request_timeout <= 0:
            raise ValueError(f"request_timeout must be above 0 seconds, not {request_timeout!r}")
        if (certificate is None) != (key is None):
            raise ValueError("certificate and key must be given together")
        encrypted = tls or ca is not None or certificate is not None
        transport = Transport(encrypted, _path(ca), _path(certificate), _path(key), token)
        self._observer = SafeObserver(observer or Observer())
        first = random.randrange(len(targets)) if _first is None else _first
        self._closings = Closings(targets, first, transport)
        self._settings = LeaseSettings(transport, ttl, label("holder", holder), request_timeout, self._observer, self._closings.begin)
        self._servers = Servers(targets, first)
        self._calls = Calls(targets, first, transport, request_timeout)
        self._ids = itertools.count(1)
        self._state = _State()
        self._pid = os.getpid()
        self._breath = 0.0
        # What goes on in the background knows the state alone, never the client: a client that is forgotten lets go of its lease.
        self._finalizer = weakref.finalize(self, self._state.abandon)
        self._finalizer.atexit = False

    @property
    def request_timeout(self) -> float:
        """How many seconds a server may take to answer."""
        return self._settings.request_timeout

    @property
    def lease_tag(self) -> str:
        """The public short name of the lease, as others see it; empty before the first lock."""
        return self._state.lease.tag if self._state.lease is not None else ""

    # Locks.

    def lock(
        self, locks: Locks, *, listener: Listener | None = None, cancel_on_loss: bool = True, **options: Unpack[LockOptions]
    ) -> _Guard:
        """A guard for ``async with``: acquires the locks, runs the body, releases them.

        When the locks are lost, the body is cancelled, and `LockLostError` raised, as `asyncio.timeout` does with its own error; with
        ``cancel_on_loss=False`` the body is left alone, and the error is raised at its end. An error of the body goes first. Options and
        errors are those of `acquire`.
        """
        request = _request(locks, options)
        return _Guard(lambda: self.acquire(request, listener=listener), cancel_on_loss)

    def _guarded(self, lock: AsyncLock) -> _Guard:
        """The same for a lock that is held already."""

        async def held() -> AsyncLock:
            return lock

        return _Guard(held)

    async def acquire(self, locks: Locks, *, listener: Listener | None = None, **options: Unpack[LockOptions]) -> AsyncLock:
        """Acquires one lock or several, waiting as long as ``wait`` says. Cancelling withdraws the request; a grant that comes all the same
        is released.

        Args:
            locks: a name, a `LockSpec`, several of them, or a `LockRequest`.
            listener: is told what happens to the request.
            **options: the fields of `LockRequest`.

        Raises:
            ValueError: the request is out of range.
            NotAcquiredError: the wait limit ran out, the queue is full, or the wait would never end.
            LeaseLostError: the lease ended while waiting: ask again.
            ServerUnavailableError: no server could be reached within the request timeout.
            RequestRefusedError: a server refuses the request.
            ClosedError: the client is closed.
        """
        request = _request(locks, options)
        if listener is not None and not isinstance(listener, Listener):
            raise TypeError(f"listener must be a Listener, not {type(listener).__name__}")
        if request.keep_unused is not None:
            await self._breathe()
        lease = self._lease()
        observation = self._observer.acquiring(request)
        holder = _Holder(listener or Listener())
        kind = Acquisition if request.keep_unused is None else Use
        acquisition = kind(f"{next(self._ids)}", request, holder.on_event)
        began = now()
        lease.acquire(acquisition)
        try:
            await asyncio.shield(acquisition.granted)
            # A cancellation that crosses the grant withdraws it below.
        except LockkeeperError as error:
            observation.on_not_acquired(error, now() - began)
            raise
        except asyncio.CancelledError:
            lease.release(acquisition)
            observation.on_not_acquired(None, now() - began)
            raise
        lock = AsyncLock(self, lease, acquisition, observation)
        holder.attach(lock)
        observation.on_acquired(acquisition.grants, now() - began)
        return lock

    async def try_lock(self, locks: Locks, *, listener: Listener | None = None, **options: Unpack[LockOptions]) -> AsyncLock | None:
        """Acquires locks if that is possible within ``wait`` seconds, by default 0; None if not. Errors are those of `acquire`."""
        options.setdefault("wait", 0.0)
        try:
            return await self.acquire(locks, listener=listener, **options)
        except NotAcquiredError as error:
            if error.reason == "TIMED_OUT":
                return None
            raise

    def election(self, name: str) -> AsyncElection:
        """An election of one leader among candidates, who is the holder of this lock."""
        return AsyncElection(self, name)

    # Asking about locks.

    async def get_lock(self, name: str, *, queue_limit: int = 100) -> LockInfo:
        """Who holds a lock, and who waits for it. A lock that nobody uses is a free one."""
        return await self._alive().get_lock(name, queue_limit)

    def list_locks(self, prefix: str = "") -> AsyncGenerator[LockInfo, None]:
        """The locks in use, ordered by name."""
        return self._alive().list_locks(prefix)

    async def check_token(self, name: str, fencing_token: int) -> bool:
        """Whether a token is that of a current holder, after a write through ZooKeeper's quorum."""
        return await self._alive().check_token(name, fencing_token)

    async def request_release(self, name: str, reason: str = "", *, deadline: float | None = None) -> tuple[Contender, ...]:
        """Asks the holders of a lock to give way, and returns who was asked. Nothing is taken away by this."""
        return await self._alive().request_release(name, reason, deadline, self._settings.holder)

    async def configure_lock(self, name: str, limit: int) -> int:
        """Sets the limit of a lock of permits, 1 to 1,000,000; 0 takes the setting back. Returns the one before; 0: none."""
        return await self._alive().configure_lock(name, limit)

    def watch(self, *names: str, prefix: str | None = None) -> AsyncGenerator[WatchEvent, None]:
        """The state of locks, and then every change, until the iterator is closed.

        Of up to 256 names, or of all that begin with ``prefix``.

        Reconnects to other servers by itself. A gap event means that events can be missing; a snapshot follows.
        """
        return self._alive().watch(names, prefix)

    # Beginning and end.

    async def close(self) -> None:
        """Ends the lease with all that it holds, and lets go of the servers; takes some seconds where none answers. Idempotent."""
        self._state.closed = True
        self._finalizer.detach()
        lease, self._state.lease = self._state.lease, None
        limit = now() + _CLOSING
        if lease is not None:
            await lease.close()
        await self._closings.wait(max(0.0, limit - now()))
        await self._calls.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _alive(self) -> Calls:
        if self._state.closed:
            raise ClosedError("the client is closed")
        if self._pid != os.getpid():
            raise ClosedError("the client belongs to the process that has forked: make one in each process")
        return self._calls

    def _lease(self) -> Lease:
        self._alive()
        state = self._state
        if state.lease is None or state.lease.has_ended():
            state.loop = asyncio.get_running_loop()
            state.lease = Lease(self._settings, self._servers, state.on_over)
        if state.lease.size >= MAX_REQUESTS:
            raise LockkeeperError(f"a client has at most {MAX_REQUESTS} requests and locks at a time")
        return state.lease

    async def _breathe(self) -> None:
        """Who takes a kept lock again and again suspends nowhere: now and then the loop must run, to hear who else wants it."""
        if now() >= self._breath:
            await asyncio.sleep(0)
            self._breath = now() + _BREATH


class _State:
    """What outlives a client that nobody has closed."""

    def __init__(self) -> None:
        self.lease: Lease | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self.closed = False

    def on_over(self, lease: Lease) -> None:
        if self.lease is lease:
            self.lease = None

    def abandon(self) -> None:
        lease, loop = self.lease, self.loop
        if lease is not None and loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(lease.abandon)


class _Holder:
    """Passes on what happens to a request. Knows the lock weakly, so that nothing in the background keeps a client alive."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._lock: weakref.ref[AsyncLock] | None = None
        self._early: list[tuple[str, Any]] = []

    def attach(self, lock: AsyncLock) -> None:
        """The caller has the lock; what was told between the grant and now is told now."""
        self._lock = weakref.ref(lock)
        self._call(self._listener.on_granted, lock)
        for kind, value in self._early:
            self.on_event(kind, value)

    def on_event(self, kind: str, value: Any) -> None:
        told = self._listener
        if kind in ("queued", "position"):
            self._call(told.on_queued, Place._all(value.positions))
        elif self._lock is None:
            self._early.append((kind, value))
        elif kind == "release_requested":
            self._call(told.on_release_requested, ReleaseRequested._of(value))
        elif kind == "contended":
            self._call(told.on_contended, Contended._of(value))
        elif kind == "jeopardy":
            self._call(told.on_jeopardy, value)
        elif kind == "safe":
            self._call(told.on_safe)
        elif kind == "lost":
            lock = self._lock()
            if lock is not None:
                lock._on_lost(value)
            self._call(told.on_lost, value)

    @staticmethod
    def _call(callback: Callable[..., None] | None, *arguments: Any) -> None:
        try:
            if callback is not None:
                callback(*arguments)
        except Exception:
            LOG.exception("a listener failed")


def _request(locks: Locks, options: LockOptions) -> LockRequest:
    if isinstance(locks, LockRequest):
        if options:
            raise ValueError(f"{', '.join(options)}: a LockRequest brings its own options")
        return locks
    return LockRequest(locks, **options)


def _path(path: str | os.PathLike[str] | None) -> Path | None:
    return None if path is None else Path(path)
