"""One lease, over one Session stream at a time: what a client must do, step by step (docs/writing-a-client.md says why)."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import grpc
import grpc.aio

from lockkeeper._acquisition import NEVER, Acquisition, State
from lockkeeper._clock import backoff, now
from lockkeeper._kept import Keeper, Use
from lockkeeper._messages import Left, Over, batches, end_of, enum_name, refusal, to_duration, to_seconds
from lockkeeper._questions import Questions
from lockkeeper._timers import Timers
from lockkeeper._transport import NoTokenError, Server, Servers, TokenRefusedError, Transport
from lockkeeper.errors import (
    ClosedError,
    LeaseLostError,
    LockkeeperError,
    LockLostError,
    NotAcquiredError,
    RequestRefusedError,
    ServerUnavailableError,
)
from lockkeeper.observer import Observer
from lockkeeper.requests import LockRequest
from lockkeeper.v1 import acquisition_pb2, session_pb2

LOG = logging.getLogger("lockkeeper")

_METHOD = "/lockkeeper.v1.LockService/Session"
_OPENING = 3.0  # seconds for connecting and for the answer to an open, at most
_CLOSING = 5.0  # seconds for the answer to a close
_ANSWERING = 5.0  # seconds after a wait limit for the server's word
_SAYS_MORE = 1.0  # seconds from the event of a release to its answer
MAX_REQUESTS = 10_000
_UNKNOWN = LockRequest("unknown")
_GIVEN_BACK = ("CLOSED", "SUPERSEDED", "FAILED_PRECONDITION")  # a lease that was closed, or is another client's
_LASTED = 2.0  # a stream of so many seconds was a good one: the backoff begins anew


@dataclass(frozen=True)
class LeaseSettings:
    """What all leases of a client have in common. Times are seconds."""

    transport: Transport
    ttl: float | None
    holder: str
    request_timeout: float
    observer: Observer
    close_lease: Callable[[str], None]


class Lease:
    """Lives once, on one event loop. When it is over, every request has heard its end, and ``on_over`` is called."""

    def __init__(self, settings: LeaseSettings, servers: Servers, on_over: Callable[[Lease], None]) -> None:
        self._settings = settings
        self._servers = servers
        self._on_over = on_over
        self._loop = asyncio.get_running_loop()
        self._lease_id = ""
        self.tag = ""
        self._secret = secrets.token_hex(16)
        self._epoch = 0
        self._deadline = NEVER
        self._interval = 1.0
        self._last_sent = 0.0
        self._nonces = itertools.count(1)
        self._unanswered: dict[int, float] = {}
        self._acquisitions: dict[str, Acquisition] = {}
        self.keeper = Keeper(self)
        self.questions = Questions(self._send, settings.request_timeout)
        self._timer = Timers()
        self._outbox: list[session_pb2.SessionRequest] = []
        self._outbox_filled = asyncio.Event()
        self._batches = False
        self._is_open = False
        self._was_open = False
        self._closing = False
        self.is_over = False
        self._attempts = 0
        self._failure: tuple[str, BaseException | None] = ("no server was asked", None)
        self._left: asyncio.Future[float] = self._loop.create_future()
        self._task = self._loop.create_task(self._run(), name="lockkeeper-lease")

    # What a client asks for.

    @property
    def deadline(self) -> float:
        """Until when the lease is good, by the client's own clock; before it is open, for ever, since nothing is held yet."""
        return self._deadline

    @property
    def size(self) -> int:
        """How many requests and locks there are."""
        return len(self._acquisitions) + len(self.keeper.waiting)

    def held(self) -> list[Acquisition]:
        """What is held, as the servers know it."""
        return [acquisition for acquisition in self._acquisitions.values() if acquisition.state is State.HELD]

    def has_ended(self) -> bool:
        """Whether the lease is over. It looks at the clock: timers may be late."""
        if now() >= self._deadline:
            self._end("DEADLINE_PASSED")
        return self.is_over

    def is_valid(self, acquisition: Acquisition) -> bool:
        """Whether the locks may be used now. It looks at the clock: timers may be late."""
        return acquisition.state is State.HELD and not self._closing and now() < acquisition.until(self._deadline)

    def acquire(self, acquisition: Acquisition) -> None:
        """Asks for locks, or takes what is kept."""
        if isinstance(acquisition, Use):
            self.keeper.acquire(acquisition)
            return
        acquisition.message()  # what cannot be sent fails here
        if self.keeper.refuses(acquisition):
            return
        self._acquisitions[acquisition.request_id] = acquisition
        self._ask(acquisition)
        if not acquisition.asked:
            limit = acquisition.since + self._settings.request_timeout
            self._timer(("unasked", acquisition.request_id), limit, lambda: self._unreachable(acquisition))
        if acquisition.give_up != NEVER:
            late = acquisition.give_up + min(_ANSWERING, self._settings.request_timeout)
            self._timer(("give-up", acquisition.request_id), late, lambda: self._nobody_counts(acquisition))

    def release(self, acquisition: Acquisition) -> None:
        """Releases locks, or withdraws the request. From now on they are not held, whatever becomes of the release."""
        if acquisition.state in (State.RELEASING, State.ENDED):
            return
        if isinstance(acquisition, Use):
            self.keeper.release(acquisition)
            return
        self._stop_timers(acquisition)
        if acquisition.asked:
            acquisition.state = State.RELEASING
            self._ask(acquisition)
        else:
            self._forget(acquisition)
            acquisition.fail(NotAcquiredError(f"{acquisition.request}: withdrawn", "WITHDRAWN"))

    async def close(self) -> None:
        """Ends the lease with all that it holds; returns when a server has confirmed it, within some seconds."""
        if not self.is_over:
            self._closing = True
            self.keeper.end(lambda request: ClosedError(f"{request}: the client was closed"))
            for acquisition in self.held():
                acquisition.lose("LEASE_CLOSED")  # now, whenever the server hears of it
            if self._was_open:  # otherwise no server has anything of it
                self._send(session_pb2.SessionRequest(close=session_pb2.CloseSession()))
                await asyncio.wait([self._task], timeout=_CLOSING)
            self._end("CLOSED")
        await asyncio.wait([self._task], timeout=_CLOSING)

    def abandon(self) -> None:
        """Nobody is there any more who could close it."""
        if not self.is_over:
            self._loop.create_task(self.close())

    # One stream after the other.

    async def _run(self) -> None:
        try:
            while not self.is_over and (self._acquisitions or self._was_open):
                pause = await self._attempt()
                await asyncio.sleep(max(pause, backoff(self._attempts)))
                self._attempts += 1
            self._end("NOT_USED")
        except Over as over:
            self._end(over.reason, over.error)
        except asyncio.CancelledError:
            self._end("CLOSED", ClosedError("the client was closed"))
            raise
        except Exception as error:
            LOG.exception("a lease ends by a fault of the client")
            self._end("CLIENT_FAILED", LockkeeperError(f"a fault of the client: {error!r}"))

    async def _attempt(self) -> float:
        """Finds a server and lives with one stream to it; returns how long to stay away."""
        if now() >= self._deadline:
            raise Over("DEADLINE_PASSED")  # its timer may be late
        try:
            server = await asyncio.wait_for(self._servers.next(), self._patience())
            metadata = await asyncio.wait_for(self._settings.transport.metadata(server), self._patience())
            channel = self._settings.transport.channel(server)
        except TokenRefusedError as error:
            if not self._lease_id:
                raise Over("UNAUTHENTICATED", RequestRefusedError(str(error), "UNAUTHENTICATED", 16)) from error
            return 0.0
        except (OSError, NoTokenError, asyncio.TimeoutError) as error:
            self._failed(str(error) or "a name or a token takes too long", error)
            return 0.0
        try:
            return await self._stream(server, channel, metadata)
        finally:
            await channel.close()

    async def _stream(self, server: Server, channel: grpc.aio.Channel, metadata: Any) -> float:
        """One stream from its open to its end."""
        began = now()
        call = channel.stream_stream(
            _METHOD,
            request_serializer=session_pb2.SessionRequest.SerializeToString,
            response_deserializer=session_pb2.SessionResponse.FromString,
        )(metadata=metadata)
        self._left = self._loop.create_future()
        self._outbox = [self._opening()]
        self._outbox_filled.set()
        self._batches = False
        self._last_sent = began  # before the message leaves
        self._timer("opening", began + self._patience(), lambda: self._silent(server))
        tasks = [self._loop.create_task(self._write(call)), self._loop.create_task(self._read(call, server))]
        try:
            return await self._left
        finally:
            if self._is_open:
                self._settings.observer.on_stream_lost(str(server))
                self._attempts = 0 if now() - began > _LASTED else self._attempts
            self._is_open = False
            for name in ("opening", "keep-alive", "silence"):
                self._timer(name)
            for task in tasks:
                task.cancel()
            call.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _opening(self) -> session_pb2.SessionRequest:
        opening = session_pb2.OpenSession(lease_id=self._lease_id, lease_secret=self._secret, batches=True)
        if not self._lease_id:
            opening.holder = self._settings.holder
            if self._settings.ttl is not None:
                opening.ttl.CopyFrom(to_duration(self._settings.ttl))
        return session_pb2.SessionRequest(open=opening)

    def _patience(self) -> float:
        """How long a step may take: half of what the lease has left leaves time for another server."""
        return min(_OPENING, max(0.0, self._deadline - now()) / 2)

    def _silent(self, server: Server) -> None:
        if not self._left.done():
            self._failed(f"{server} does not answer", None)
            self._leave()

    def _failed(self, words: str, error: BaseException | None) -> None:
        """Notes why no stream could be opened, for those who wait; logs the first of several failures."""
        self._failure = (words, error)
        LOG.log(logging.DEBUG if self._attempts else logging.WARNING, "no session stream can be opened, trying on: %s", words)

    def _leave(self, pause: float = 0.0) -> None:
        if not self._left.done():
            self._left.set_result(pause)

    async def _write(self, call: Any) -> None:
        with contextlib.suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):  # the reader hears why
            while True:
                await self._outbox_filled.wait()
                self._outbox_filled.clear()
                requests, self._outbox = self._outbox, []
                for part in batches(requests) if self._batches else ([request] for request in requests):
                    batch = session_pb2.SessionRequest(batch=session_pb2.SessionRequestBatch(requests=part))
                    await call.write(part[0] if len(part) == 1 else batch)

    async def _read(self, call: Any, server: Server) -> None:
        left = self._left
        try:
            while not left.done():
                response = await call.read()
                if response is grpc.aio.EOF:
                    raise Left
                self._hear(response)
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
            self._settle(left, await self._on_error(call, server))
        except Over as over:
            self._end(over.reason, over.error)  # at once: the stream may take a while to end
            self._settle(left, over)
        except Left as end:
            self._settle(left, end)
        except asyncio.CancelledError:
            self._settle(left, Left())
            raise
        except Exception as error:
            self._settle(left, error)

    @staticmethod
    def _settle(left: asyncio.Future[float], end: Exception) -> None:
        if not left.done():
            if isinstance(end, Left):
                left.set_result(end.pause)
            else:
                left.set_exception(end)

    async def _on_error(self, call: Any, server: Server) -> Exception:
        code, details, metadata = await call.code(), await call.details(), await call.trailing_metadata()
        if self._is_open:
            LOG.info("a session stream to %s has ended: %s %s", server, code.name, details)
        else:
            self._failed(f"{server}: {details or code.name}", None)
        return end_of(code, details or "", metadata, bool(self._lease_id))

    # What a server says.

    def _hear(self, response: session_pb2.SessionResponse) -> None:
        if now() >= self._deadline:
            raise Over("DEADLINE_PASSED")  # what comes later revives nothing
        kind = response.WhichOneof("response")
        if kind == "going_away":
            self._on_going_away(response.going_away)
        elif kind == "batch":
            for each in response.batch.responses:
                self._hear(each)
        elif response.epoch >= self._epoch:
            self._epoch = response.epoch
            if not self._is_open and kind not in ("opened", "lease_ended"):
                raise Left
            handler = getattr(self, f"_on_{kind}", None)  # None: of a later version, or of no interest
            if handler is not None:
                handler(getattr(response, str(kind)))
        elif not self._is_open:
            raise Left

    def _on_going_away(self, message: session_pb2.GoingAway) -> None:
        if message.reason == session_pb2.GOING_AWAY_REASON_SUPERSEDED:
            raise Over("SUPERSEDED")
        raise Left(to_seconds(message.resume_after))

    def _on_lease_ended(self, ended: session_pb2.LeaseEnded) -> None:
        raise Over(enum_name(ended, "reason"))

    def _on_opened(self, opened: session_pb2.SessionOpened) -> None:
        if self._is_open:
            return
        resumed = self._was_open
        if not resumed:
            self._lease_id, self.tag, self._deadline = opened.lease_id, opened.lease_tag, 0.0
        self._is_open = self._was_open = True
        self._batches = opened.batches
        self._unanswered = {}
        self._timer("opening")
        self._extend(self._last_sent, opened.valid_for, opened.keep_alive_interval)
        self._settings.observer.on_stream_opened(opened.coordinator_id, resumed)
        # All holds are repeated before anything is released.
        for acquisition in sorted(self._acquisitions.values(), key=lambda a: a.state is State.RELEASING):
            self._ask(acquisition)
        self.questions.repeat()
        if self._closing:
            self._send(session_pb2.SessionRequest(close=session_pb2.CloseSession()))

    def _on_kept_alive(self, kept: session_pb2.SessionKeptAlive) -> None:
        sent = self._unanswered.get(kept.nonce)
        if sent is None:
            return
        # It does for those before it, so a late answer to one of them counts for nothing.
        self._unanswered = {nonce: at for nonce, at in self._unanswered.items() if nonce > kept.nonce}
        self._extend(sent, kept.valid_for, kept.keep_alive_interval)
        self._watch_silence()

    # The deadline, and what moves it on.

    def _extend(self, sent: float, valid_for: Any, interval: Any) -> None:
        promised = to_seconds(valid_for)
        # Less two percent for clocks of unequal rate, and 50 ms.
        self._deadline = max(sent + promised - promised / 50 - 0.05, self._deadline)
        self._interval = max(0.1, to_seconds(interval))
        self._timer("deadline", self._deadline, lambda: self._end("DEADLINE_PASSED"))
        self._timer("keep-alive", self._last_sent + self._interval, self._keep_alive)

    def _keep_alive(self) -> None:
        nonce = next(self._nonces)
        self._last_sent = now()
        self._unanswered[nonce] = self._last_sent
        self._send(session_pb2.SessionRequest(keep_alive=session_pb2.SessionKeepAlive(nonce=nonce)))
        self._timer("keep-alive", self._last_sent + self._interval, self._keep_alive)
        if len(self._unanswered) == 1:
            self._watch_silence()

    def _watch_silence(self) -> None:
        """Leaves the stream when a keep-alive has had no answer for two intervals, a second at least."""
        if self._unanswered:
            oldest = min(self._unanswered.values())
            self._timer("silence", oldest + max(1.0, 2 * self._interval), self._leave)
        else:
            self._timer("silence")

    # Requests, and what becomes of them.

    def _ask(self, acquisition: Acquisition) -> None:
        if not self._is_open:
            return  # the next stream repeats what counts
        if acquisition.state is State.RELEASING:
            self._send(session_pb2.SessionRequest(release=acquisition_pb2.ReleaseRequest(request_id=acquisition.request_id)))
            return
        acquisition.asked = True
        self._timer(("unasked", acquisition.request_id))
        self._send(session_pb2.SessionRequest(acquire=acquisition.message()))

    def _unreachable(self, acquisition: Acquisition) -> None:
        if acquisition.state is State.WAITING and not acquisition.asked:
            self._forget(acquisition)
            words, cause = self._failure
            error = ServerUnavailableError(f"{acquisition.request}: no server could be reached in time; last: {words}")
            error.__cause__ = cause
            acquisition.fail(error)

    def _nobody_counts(self, acquisition: Acquisition) -> None:
        """The wait limit has passed, and no server has said so."""
        if not acquisition.asked:
            self._unreachable(acquisition)
        elif acquisition.state is State.WAITING:
            error = NotAcquiredError(f"{acquisition.request}: not granted in time", "TIMED_OUT")
            self.release(acquisition)  # first: another may ask in its place
            acquisition.give_up_waiting(error)

    def _on_event(self, event: acquisition_pb2.AcquireResponse) -> None:
        acquisition = self._acquisitions.get(event.request_id)
        kind = event.WhichOneof("event")
        if acquisition is None:
            if kind not in (None, "lost", "not_acquired", "released"):  # final, or of a later version
                self._release_unknown(event.request_id)
            return
        if event.sequence == 0:
            acquisition.tell("position", event.position)
            return
        if not acquisition.is_new(event):
            return
        if kind == "granted":
            self._on_granted(acquisition, event.granted)
        elif kind == "jeopardy":
            self._on_jeopardy(acquisition, to_seconds(event.jeopardy.valid_for))
        elif kind == "safe":
            self._on_safe(acquisition)
        elif kind in ("lost", "not_acquired"):
            ending = getattr(event, kind)
            holders = [holder.holder for holder in event.not_acquired.holders]
            self._finish(acquisition, enum_name(ending, "reason"), ending.message, holders)
        elif kind == "released":
            self._on_released_event(acquisition)
        elif kind == "contended":
            acquisition.on_contended(event.contended)
        elif kind in ("queued", "position", "release_requested"):
            acquisition.tell(kind, getattr(event, kind))

    def _release_unknown(self, request_id: str) -> None:
        """Releases what a server has queued or granted and nobody here waits for any more."""
        unknown = Acquisition(request_id, _UNKNOWN, lambda kind, value: None)
        unknown.state = State.RELEASING
        if self.size < MAX_REQUESTS:  # otherwise a later event has it released again
            self._acquisitions[request_id] = unknown
        self._ask(unknown)

    def _on_granted(self, acquisition: Acquisition, granted: acquisition_pb2.Granted) -> None:
        acquisition.jeopardy_until = NEVER
        self._timer(("jeopardy", acquisition.request_id))
        tokens = [grant.fencing_token for grant in granted.grants]
        if acquisition.state is State.WAITING:
            self._stop_timers(acquisition)
            acquisition.on_granted(granted)
            acquisition.nest(self._acquisitions.values())
            self._timer(("max-hold", acquisition.request_id), acquisition.hold_until, lambda: self._end_hold(acquisition))
        elif acquisition.state is State.HELD and acquisition.tokens != tokens:
            self.lose(acquisition, "REMOVED")  # not the hold that the caller has
        acquisition.on_waiters(granted)

    def _on_jeopardy(self, acquisition: Acquisition, valid_for: float) -> None:
        if acquisition.state is not State.HELD:
            return
        acquisition.jeopardy_until = now() + valid_for
        key = ("jeopardy", acquisition.request_id)
        self._timer(key, acquisition.jeopardy_until, lambda: self.lose(acquisition, "DEADLINE_PASSED"))
        acquisition.tell("jeopardy", valid_for)

    def _on_safe(self, acquisition: Acquisition) -> None:
        if acquisition.state is State.HELD and acquisition.jeopardy_until != NEVER:
            acquisition.jeopardy_until = NEVER
            self._timer(("jeopardy", acquisition.request_id))
            acquisition.tell("safe", None)

    def lose(self, acquisition: Acquisition, reason: str) -> None:
        """The client gives the locks up by itself: what the server may still keep for it is released."""
        if acquisition.state is State.HELD:
            acquisition.lose(reason)
            self.release(acquisition)

    def _end_hold(self, acquisition: Acquisition) -> None:
        """The longest hold is over, and so are the levels above it. The server takes them away, so that who comes next hears of it."""
        for held in self.held():
            if held is acquisition or acquisition in held.outers:
                held.lose("MAX_HOLD")

    def _on_released_event(self, acquisition: Acquisition) -> None:
        """The answer to a release of ours says more than the event, and comes after it, if it comes."""
        if acquisition.state is not State.RELEASING:
            self._finish(acquisition, "RELEASED")
            return
        result = acquisition_pb2.ReleaseResponse(outcome=acquisition_pb2.RELEASE_OUTCOME_RELEASED)
        key = ("answer", acquisition.request_id)
        self._timer(key, now() + _SAYS_MORE, lambda: self._finish(acquisition, "RELEASED", result=result))

    def _on_released(self, released: session_pb2.SessionReleased) -> None:
        acquisition = self._acquisitions.get(released.request_id)
        if acquisition is not None:
            self._finish(acquisition, "RELEASED", result=released.result)

    def _on_release_answered(self, answered: session_pb2.ReleaseAnswered) -> None:
        self.questions.on_answer("answer_release", answered.request_id)

    def _on_metadata_updated(self, updated: session_pb2.MetadataUpdated) -> None:
        self.questions.on_answer("update_metadata", updated.request_id)

    def _on_refused(self, refused: session_pb2.Refused) -> None:
        kind = refused.WhichOneof("request")
        after = max(0.05, to_seconds(refused.retry_after)) if refused.HasField("retry_after") else None
        again = NEVER if after is None else now() + after
        if kind == "close":
            raise Over("CLOSED")  # the TTL does the rest
        if kind == "keep_alive":
            if again != NEVER:
                self._timer("keep-alive", again, self._keep_alive)
        elif kind in ("answer_release", "update_metadata"):
            self.questions.on_answer(kind, getattr(refused, kind), refusal(kind, refused))
        elif kind in ("acquire", "release"):
            self._on_request_refused(kind, refused, again)

    def _on_request_refused(self, kind: str, refused: session_pb2.Refused, again: float) -> None:
        acquisition = self._acquisitions.get(getattr(refused, kind))
        if acquisition is None or (kind == "release") != (acquisition.state is State.RELEASING):
            return  # while it is released, the answer to the release decides
        if acquisition.state is State.WAITING and again >= acquisition.give_up and again != NEVER:
            self._fail(acquisition, NotAcquiredError(f"{acquisition.request}: {refused.message}", "TIMED_OUT"))
        elif again != NEVER:
            self._timer(("again", acquisition.request_id), again, lambda: self._ask(acquisition))
        elif acquisition.state is State.WAITING:
            self._fail(acquisition, refusal(str(acquisition.request), refused))
        elif acquisition.state is State.HELD:
            self.lose(acquisition, enum_name(refused, "reason"))
        else:
            self._finish(acquisition, "REFUSED")

    def _fail(self, acquisition: Acquisition, error: LockkeeperError) -> None:
        self._forget(acquisition)
        acquisition.fail(error)

    def _finish(
        self,
        acquisition: Acquisition,
        reason: str,
        message: str = "",
        holders: list[str] | None = None,
        result: acquisition_pb2.ReleaseResponse | None = None,
    ) -> None:
        """A server has told the end of a request."""
        self._forget(acquisition)
        if acquisition.state is State.WAITING and self._closing:
            acquisition.fail(ClosedError(f"{acquisition.request}: the client was closed"))
        elif acquisition.state is State.WAITING:
            acquisition.fail(NotAcquiredError(f"{acquisition.request}: {message or reason}", reason, holders or ()))
        elif acquisition.state is State.HELD:
            acquisition.lose(reason)
            acquisition.finish(None)
        else:
            acquisition.finish(result)

    def _end(self, reason: str, error: LockkeeperError | None = None) -> None:
        """The lease is over, with all that it held."""
        if self.is_over:
            return
        self.is_over = True
        if self._closing:
            error = ClosedError("the client was closed")

        def why(request: LockRequest) -> LockkeeperError:
            return error or LeaseLostError(f"{request}: the lease ended: {reason}", reason)

        self.keeper.end(why)
        for acquisition in list(self._acquisitions.values()):
            self._forget(acquisition)
            if acquisition.state is State.WAITING:
                acquisition.fail(why(acquisition.request))
            else:
                if acquisition.state is State.HELD:
                    acquisition.lose(reason)
                acquisition.finish(None)
        self.questions.fail(error or LockLostError(f"the lease ended: {reason}", reason))
        self._timer.stop()
        self._task.cancel()
        if self._lease_id and reason not in _GIVEN_BACK:
            self._settings.close_lease(self._lease_id)
        self._on_over(self)

    # Small things.

    def _forget(self, acquisition: Acquisition) -> None:
        self._stop_timers(acquisition)
        self._acquisitions.pop(acquisition.request_id, None)

    def _stop_timers(self, acquisition: Acquisition) -> None:
        for kind in ("unasked", "give-up", "again", "jeopardy", "max-hold", "answer"):
            self._timer((kind, acquisition.request_id))

    def _send(self, request: session_pb2.SessionRequest) -> None:
        if self._is_open:
            self._outbox.append(request)
            self._outbox_filled.set()
