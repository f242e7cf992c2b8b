"""A server in memory, for tests of code that uses locks: the real client talks to it, and the test says what goes wrong.

    with FakeServer() as server, Client(server.address) as client:
        with pytest.raises(LockLostError):
            with client.lock("orders/42"):
                server.lose("orders/42")

It has sessions, all modes of locks, queues in order, reentrancy by owner, wait limits, releases, keep-alives and contention, and answers
GetLock and ListLocks. It has no ZooKeeper, no watches, no search for cycles of waits, and no limits.
"""

from __future__ import annotations

import asyncio
import itertools
import secrets
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, TypeVar

import grpc
import grpc.aio

from lockkeeper._messages import to_duration, to_seconds
from lockkeeper.v1 import acquisition_pb2, lock_service_pb2, session_pb2
from lockkeeper.v1 import types_pb2 as types

T = TypeVar("T")
_PATIENCE = 10.0  # seconds for anything that a test asks of it


class _Request:
    """One request of a lease, in the queues of all its locks."""

    def __init__(self, lease: _Lease, message: acquisition_pb2.AcquireRequest) -> None:
        self.lease = lease
        self.message = message
        self.id = message.request_id
        self.tokens: list[int] = []
        self.last = acquisition_pb2.AcquireResponse()
        self.timer: asyncio.TimerHandle | None = None
        self.contended = False  # its holder was told that somebody waits

    def lock(self, name: str) -> acquisition_pb2.LockRequest:
        return next(lock for lock in self.message.locks if lock.name == name)

    def mode(self, name: str) -> types.LockMode:
        return self.lock(name).mode or types.LOCK_MODE_EXCLUSIVE

    def is_owned_with(self, other: _Request) -> bool:
        return self.lease is other.lease and bool(self.message.owner) and self.message.owner == other.message.owner


class _Lease:
    def __init__(self, ttl: float) -> None:
        self.id = secrets.token_hex(16)
        self.ttl = ttl
        self.requests: dict[str, _Request] = {}
        self.stream: asyncio.Queue[session_pb2.SessionResponse | None] | None = None
        self.timer: asyncio.TimerHandle | None = None


class FakeServer:
    """A server on a free port of this machine, in a thread of its own. Its methods may be called by any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="lockkeeper-fake", daemon=True)
        self._leases: dict[str, _Lease] = {}
        self._by_secret: dict[str, _Lease] = {}
        self._queues: dict[str, list[_Request]] = {}
        self._sequences = itertools.count(1)
        self._tokens = itertools.count(1 << 40)
        self._frozen = False
        self._server: grpc.aio.Server | None = None
        self._port = 0
        self._thread.start()
        self.start()

    @property
    def address(self) -> str:
        """Where it listens, as ``host:port``."""
        return f"127.0.0.1:{self._port}"

    # What a test may do to it.

    def lose(self, name: str, reason: str = "FORCED") -> None:
        """Takes a lock away from its holders, who hear of it a moment later. ``reason`` is a ``LossReason`` without its prefix.

        Raises:
            LookupError: nobody holds it.
            ValueError: there is no such reason.
        """
        lost = acquisition_pb2.Lost(reason=f"LOSS_REASON_{reason}", message="taken away by a test")

        def take() -> None:
            holding = [r for r in self._queues.get(name, []) if r.tokens]
            if not holding:
                raise LookupError(f'nobody holds "{name}"')
            for request in holding:
                self._end(request, lost=lost)

        self._do(take)

    def expire_leases(self) -> None:
        """Ends all leases, as if none had been renewed in time."""

        def end() -> None:
            for lease in list(self._leases.values()):
                self._end_lease(lease, "EXPIRED")

        self._do(end)

    def request_release(self, name: str, reason: str = "", requester: str = "a test") -> None:
        """Asks the holders of a lock to give way."""
        asked = acquisition_pb2.ReleaseRequested(name=name, requester=requester, reason=reason)

        def ask() -> None:
            for request in self._queues.get(name, []):
                if request.tokens:
                    self._tell(request, release_requested=asked)

        self._do(ask)

    def jeopardize(self, valid_for: float = 10.0) -> None:
        """Tells all holders that the server has lost ZooKeeper, and vouches for so many seconds yet."""
        self._do(lambda: self._tell_holders(jeopardy=acquisition_pb2.Jeopardy(valid_for=to_duration(valid_for))))

    def make_safe(self) -> None:
        """Tells all holders that the jeopardy is over."""
        self._do(lambda: self._tell_holders(safe=acquisition_pb2.Safe(valid_for=to_duration(60.0))))

    def disconnect(self) -> None:
        """Breaks all streams. Leases live on, and clients come back."""

        def cut() -> None:
            for lease in self._leases.values():
                if lease.stream is not None:
                    lease.stream.put_nowait(None)

        self._do(cut)

    def freeze(self) -> None:
        """Answers nothing from now on: keep-alives neither. Connections stay."""
        self._do(lambda: setattr(self, "_frozen", True))

    def thaw(self) -> None:
        """Answers again what comes from now on."""
        self._do(lambda: setattr(self, "_frozen", False))

    def stop(self) -> None:
        """Stops listening and breaks all connections. Leases live on until their time is over."""

        async def end() -> None:
            if self._server is not None:
                await self._server.stop(0.05)
                self._server = None

        self._run(end())

    def start(self) -> None:
        """Listens again, at the same port."""

        async def begin() -> None:
            handlers: dict[str, Any] = {
                "Session": grpc.stream_stream_rpc_method_handler(
                    self._session, session_pb2.SessionRequest.FromString, session_pb2.SessionResponse.SerializeToString
                ),
                "GetLock": grpc.unary_unary_rpc_method_handler(
                    self._get_lock, lock_service_pb2.GetLockRequest.FromString, lock_service_pb2.GetLockResponse.SerializeToString
                ),
                "ListLocks": grpc.unary_unary_rpc_method_handler(
                    self._list_locks, lock_service_pb2.ListLocksRequest.FromString, lock_service_pb2.ListLocksResponse.SerializeToString
                ),
            }
            server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
            server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("lockkeeper.v1.LockService", handlers),))
            self._port = server.add_insecure_port(self.address)
            await server.start()
            self._server = server

        self._run(begin())

    def close(self) -> None:
        """Ends it, with its thread."""
        if self._thread.is_alive():
            self.stop()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_PATIENCE)
            self._loop.close()

    def __enter__(self) -> FakeServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_PATIENCE)

    def _do(self, action: Callable[[], object]) -> None:
        async def act() -> None:
            action()

        self._run(act())

    # Sessions.

    async def _session(
        self, requests: AsyncIterator[session_pb2.SessionRequest], context: Any
    ) -> AsyncIterator[session_pb2.SessionResponse]:
        opening = (await anext(requests)).open
        lease = await self._opened(opening, context)
        if lease.stream is not None:
            away = session_pb2.GoingAway(reason=session_pb2.GOING_AWAY_REASON_SUPERSEDED)
            lease.stream.put_nowait(session_pb2.SessionResponse(going_away=away))
            lease.stream.put_nowait(None)
        stream: asyncio.Queue[session_pb2.SessionResponse | None] = asyncio.Queue()
        lease.stream = stream
        self._renew(lease)
        opened = session_pb2.SessionOpened(lease_id=lease.id, lease_tag=lease.id[:16], batches=True, resumed=bool(opening.lease_id))
        opened.ttl.CopyFrom(to_duration(lease.ttl))
        opened.valid_for.CopyFrom(to_duration(lease.ttl))
        opened.keep_alive_interval.CopyFrom(to_duration(lease.ttl / 4))
        self._say(lease, opened=opened)
        for request in lease.requests.values():
            self._repeat(request)
            request.contended = False  # it is told anew
            self._tell_contention(request)
        reader = asyncio.ensure_future(self._read(lease, requests))
        try:
            while (response := await stream.get()) is not None:
                yield response
            await context.abort(grpc.StatusCode.UNAVAILABLE, "disconnected by a test")
        finally:
            reader.cancel()
            if lease.stream is stream:
                lease.stream = None

    async def _opened(self, opening: session_pb2.OpenSession, context: Any) -> _Lease:
        if opening.lease_id:
            lease = self._leases.get(opening.lease_id)
            if lease is None:
                await context.abort(grpc.StatusCode.NOT_FOUND, "no such lease")
            assert lease is not None
            return lease
        known = self._by_secret.get(opening.lease_secret)
        if known is None:
            known = _Lease(to_seconds(opening.ttl) or 15.0)
            self._leases[known.id] = self._by_secret[opening.lease_secret] = known
        return known

    async def _read(self, lease: _Lease, requests: AsyncIterator[session_pb2.SessionRequest]) -> None:
        async for request in requests:
            for each in request.batch.requests or [request]:
                if not self._frozen:
                    self._take(lease, each)

    def _take(self, lease: _Lease, request: session_pb2.SessionRequest) -> None:
        kind = request.WhichOneof("request")
        if kind == "keep_alive":
            self._renew(lease)
            kept = session_pb2.SessionKeptAlive(nonce=request.keep_alive.nonce)
            kept.valid_for.CopyFrom(to_duration(lease.ttl))
            kept.keep_alive_interval.CopyFrom(to_duration(lease.ttl / 4))
            self._say(lease, kept_alive=kept)
        elif kind == "acquire":
            self._acquire(lease, request.acquire)
        elif kind == "release":
            self._release(lease, request.release.request_id)
        elif kind == "update_metadata":
            asked = lease.requests.get(request.update_metadata.request_id)
            if asked is not None:
                asked.message.metadata.clear()
                asked.message.metadata.update(request.update_metadata.metadata)
            self._say(lease, metadata_updated=session_pb2.MetadataUpdated(request_id=request.update_metadata.request_id))
        elif kind == "answer_release":
            self._say(lease, release_answered=session_pb2.ReleaseAnswered(request_id=request.answer_release.request_id))
        elif kind == "close":
            self._end_lease(lease, "CLOSED")

    def _renew(self, lease: _Lease) -> None:
        if lease.timer is not None:
            lease.timer.cancel()
        lease.timer = self._loop.call_later(lease.ttl, self._end_lease, lease, "EXPIRED")

    def _end_lease(self, lease: _Lease, reason: str) -> None:
        if self._leases.pop(lease.id, None) is None:
            return
        self._by_secret = {secret: other for secret, other in self._by_secret.items() if other is not lease}
        if lease.timer is not None:
            lease.timer.cancel()
        for request in list(lease.requests.values()):
            self._drop(request)
        self._say(lease, lease_ended=session_pb2.LeaseEnded(reason=f"LEASE_END_REASON_{reason}"))
        if lease.stream is not None:
            lease.stream.put_nowait(None)

    # Requests and queues.

    def _acquire(self, lease: _Lease, message: acquisition_pb2.AcquireRequest) -> None:
        known = lease.requests.get(message.request_id)
        if known is not None:
            known.message.notify_contention = message.notify_contention
            self._repeat(known)
            self._tell_contention(known)
            return
        request = _Request(lease, message)
        if message.held_tokens:
            self._tell(request, lost=acquisition_pb2.Lost(reason=types.LOSS_REASON_REMOVED))
            return
        lease.requests[request.id] = request
        for lock in message.locks:
            self._queues.setdefault(lock.name, []).append(request)
        self._decide()
        if not request.tokens:
            places = [acquisition_pb2.QueuePosition(name=lock.name, ahead=self._queues[lock.name].index(request)) for lock in message.locks]
            self._tell(request, queued=acquisition_pb2.Queued(positions=places))
            for holder in [r for lock in message.locks for r in self._queues[lock.name] if r.tokens]:
                self._tell_contention(holder)
            if message.HasField("wait_timeout"):
                timed_out = acquisition_pb2.NotAcquired(reason=types.NOT_ACQUIRED_REASON_TIMED_OUT, message="the wait limit ran out")
                wait = to_seconds(message.wait_timeout)
                request.timer = self._loop.call_later(wait, lambda: self._end(request, not_acquired=timed_out))

    def _release(self, lease: _Lease, request_id: str) -> None:
        request = lease.requests.get(request_id)
        result = acquisition_pb2.ReleaseResponse(outcome=acquisition_pb2.RELEASE_OUTCOME_ALREADY_RELEASED)
        if request is not None:
            held = bool(request.tokens)
            result.outcome = acquisition_pb2.RELEASE_OUTCOME_RELEASED if held else acquisition_pb2.RELEASE_OUTCOME_WITHDRAWN
            levels = self._levels(request) - 1
            if held and levels > 0:
                result.outcome, result.remaining_holds = acquisition_pb2.RELEASE_OUTCOME_DECREMENTED, levels
            withdrawn = acquisition_pb2.NotAcquired(reason=types.NOT_ACQUIRED_REASON_WITHDRAWN)
            self._end(request, **({"released": acquisition_pb2.Released()} if held else {"not_acquired": withdrawn}))
        self._say(lease, released=session_pb2.SessionReleased(request_id=request_id, result=result))

    def _levels(self, request: _Request) -> int:
        name = request.message.locks[0].name
        return sum(1 for other in self._queues[name] if other.tokens and (other is request or other.is_owned_with(request)))

    def _decide(self) -> None:
        """Grants what everything ahead of it lets in."""
        granted: list[tuple[_Request, list[acquisition_pb2.Grant]]] = []
        known = -1
        while known < len(granted):
            known = len(granted)
            for queue in self._queues.values():
                for request in queue:
                    if not request.tokens and all(self._admits(lock.name, request) for lock in request.message.locks):
                        granted.append((request, self._grant(request)))
        for request, grants in granted:  # only now it is known who waits still
            for grant in grants:
                grant.waiters = self._waiters(grant.name) if request.message.notify_contention else 0
            request.contended = any(grant.waiters for grant in grants)
            said = acquisition_pb2.Granted(grants=grants, lease_id=request.lease.id, valid_for=to_duration(request.lease.ttl))
            self._tell(request, granted=said)

    def _waiters(self, name: str) -> int:
        return sum(1 for request in self._queues.get(name, []) if not request.tokens)

    def _tell_contention(self, request: _Request) -> None:
        """Tells a holder who wants to know it that somebody waits, once."""
        names = [lock.name for lock in request.message.locks if self._waiters(lock.name)]
        if names and request.tokens and request.message.notify_contention and not request.contended:
            request.contended = True
            self._tell(request, contended=acquisition_pb2.Contended(name=names[0], waiters=self._waiters(names[0])))

    def _admits(self, name: str, request: _Request) -> bool:
        queue = self._queues[name]
        place = queue.index(request)
        ahead = queue[:place] + [r for r in queue[place + 1 :] if r.tokens]  # an owner's levels are behind those who waited before
        mode = request.mode(name)
        if any(r.tokens and r.is_owned_with(request) and r.mode(name) == mode for r in queue) and mode != types.LOCK_MODE_PERMITS:
            return True
        if any(r.tokens and r.is_owned_with(request) and r.mode(name) == types.LOCK_MODE_WRITE for r in queue):
            return mode == types.LOCK_MODE_READ
        if mode == types.LOCK_MODE_READ:
            return all(r.mode(name) == types.LOCK_MODE_READ for r in ahead)
        if mode == types.LOCK_MODE_PERMITS:
            limit = next((r.lock(name).limit for r in queue if r.lock(name).limit), 1)
            taken = sum(r.lock(name).permits for r in ahead)
            return all(r.tokens for r in ahead) and taken + request.lock(name).permits <= limit
        return not ahead

    def _grant(self, request: _Request) -> list[acquisition_pb2.Grant]:
        if request.timer is not None:
            request.timer.cancel()
        grants: list[acquisition_pb2.Grant] = []
        for lock in request.message.locks:
            ours = [r for r in self._queues[lock.name] if r.tokens and r.is_owned_with(request)]
            same = [r for r in ours if r.mode(lock.name) == request.mode(lock.name)]
            token = same[0].tokens[[each.name for each in same[0].message.locks].index(lock.name)] if same else next(self._tokens)
            grants.append(acquisition_pb2.Grant(name=lock.name, fencing_token=token, hold_count=1 + len(same)))
        request.tokens = [grant.fencing_token for grant in grants]  # not before, since it is of its own owner
        if request.message.HasField("max_hold"):
            longest = to_seconds(request.message.max_hold)
            grace = min(2.0, max(0.1, longest / 10))  # as the contract says
            request.timer = self._loop.call_later(longest + grace, self._end_hold, request)
        return grants

    def _end_hold(self, request: _Request) -> None:
        """Takes what is over its longest hold away, with the levels that its owner added later."""
        lost = acquisition_pb2.Lost(reason="LOSS_REASON_MAX_HOLD", message="the longest hold is over")
        held = [r for r in request.lease.requests.values() if r is request or r.is_owned_with(request)]
        for level in held[held.index(request) :]:
            if set(level.tokens) & set(request.tokens):
                self._end(level, lost=lost)

    def _end(self, request: _Request, **event: Any) -> None:
        self._tell(request, **event)
        self._drop(request)
        self._decide()

    def _drop(self, request: _Request) -> None:
        if request.timer is not None:
            request.timer.cancel()
        request.lease.requests.pop(request.id, None)
        for lock in request.message.locks:
            queue = self._queues.get(lock.name, [])
            if request in queue:
                queue.remove(request)
            if not queue:
                self._queues.pop(lock.name, None)
        if not request.lease.requests and request.lease.id not in self._leases:
            self._decide()

    # Words.

    def _tell_holders(self, **event: Any) -> None:
        for lease in self._leases.values():
            for request in lease.requests.values():
                if request.tokens:
                    self._tell(request, **event)

    def _tell(self, request: _Request, **event: Any) -> None:
        said = acquisition_pb2.AcquireResponse(request_id=request.id, sequence=next(self._sequences), epoch=1, **event)
        if "queued" in event or "granted" in event:
            request.last = said
        self._say(request.lease, event=said)

    def _repeat(self, request: _Request) -> None:
        if request.last.sequence:
            self._say(request.lease, event=request.last)

    def _say(self, lease: _Lease, **response: Any) -> None:
        if lease.stream is not None and not self._frozen:
            lease.stream.put_nowait(session_pb2.SessionResponse(epoch=1, **response))

    # Reads.

    def _state(self, name: str) -> types.LockState:
        queue = self._queues.get(name, [])
        state = types.LockState(name=name, queue_length=sum(1 for r in queue if not r.tokens))
        for request in queue:
            contender = (state.holders if request.tokens else state.queue).add()
            contender.holder, contender.owner = request.message.holder, request.message.owner
            contender.request_id, contender.lease_tag = request.id, request.lease.id[:16]
            contender.mode = request.mode(name)
            contender.permits = request.lock(name).permits
            contender.metadata.update(request.message.metadata)
            if request.tokens:
                contender.fencing_token = request.tokens[[lock.name for lock in request.message.locks].index(name)]
        return state

    async def _get_lock(self, request: lock_service_pb2.GetLockRequest, context: Any) -> lock_service_pb2.GetLockResponse:
        return lock_service_pb2.GetLockResponse(lock=self._state(request.name))

    async def _list_locks(self, request: lock_service_pb2.ListLocksRequest, context: Any) -> lock_service_pb2.ListLocksResponse:
        names = sorted(name for name in self._queues if name.startswith(request.prefix))
        return lock_service_pb2.ListLocksResponse(locks=[self._state(name) for name in names])
