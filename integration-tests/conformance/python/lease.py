"""The reference client: one lease, over one Session stream at a time. docs/writing-a-client.md explains each step.

A Lease lives once. When it is over, `tell` has heard the end of every request, and whoever wants more locks makes another.
"""

import asyncio
import contextlib
import functools
import itertools
import random
import secrets
import time

import grpc
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

from lockkeeper.v1 import acquisition_pb2, lease_service_pb2, lease_service_pb2_grpc, session_pb2
from lockkeeper.v1 import lock_service_pb2_grpc as rpc

OPENING = 3.0  # how long a server may take to answer an open, at most
CLOSING = 60.0  # how long to try to close a lease that was given up
NEVER = float("inf")
# Goes on while the machine is suspended, where there is such a clock.
now = functools.partial(time.clock_gettime, getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
HOPELESS = [getattr(grpc.StatusCode, c) for c in "INVALID_ARGUMENT UNIMPLEMENTED UNAUTHENTICATED PERMISSION_DENIED".split()]
PASSING = [getattr(grpc.StatusCode, c) for c in "UNAVAILABLE DEADLINE_EXCEEDED CANCELLED UNKNOWN".split()]
KEPT = ["CLOSED", "SUPERSEDED", "FAILED_PRECONDITION"]  # leases that need no closing, or are another's
FINAL = [None, "lost", "not_acquired", "released"]  # events that need no release; None: of a later version
ENDINGS = {"waiting": "not_acquired", "held": "lost", "releasing": "released"}  # by the state that ends


class Over(Exception):
    """The lease is over, for that reason."""


class Left(Exception):
    """The stream is of no more use; stay away for so many seconds at least."""


class Acquisition:
    """One request for locks: it waits, is held, is being released; when it has ended it is forgotten."""

    def __init__(self, request_id, locks, wait):
        self.request_id, self.locks = request_id, locks
        self.give_up = NEVER if wait is None else now() + wait
        self.state, self.tokens, self.last = "waiting", [], (0, 0)
        self.jeopardy_until, self.told = NEVER, False


class Lease:
    def __init__(self, servers, ttl, tell):
        self.servers, self.ttl, self.tell = servers, ttl, tell
        self.lease_id, self.secret, self.epoch = "", secrets.token_hex(16), 0
        self.deadline, self.interval, self.last_sent = NEVER, 1.0, 0.0
        self.unanswered, self.nonces = {}, itertools.count(1)
        self.acquisitions, self.outbox, self.attempts = {}, None, 0
        self.is_open = self.closing = self.over = False
        self.loop, self.timers = asyncio.get_running_loop(), {}
        self.task = self.loop.create_task(self.run())
        self.closed = None  # the task that closes the lease after it was given up

    # What a caller may ask for.

    def acquire(self, request_id, locks, wait=None):
        self.acquisitions[request_id] = acquisition = Acquisition(request_id, locks, wait)
        self.ask(acquisition)

    def release(self, request_id):
        acquisition = self.acquisitions.get(request_id)
        if acquisition and acquisition.state != "releasing":
            acquisition.state = "releasing"  # from now on it does not hold, whatever becomes of the release
            self.timer(acquisition)  # nor is it asked for again
            self.ask(acquisition)

    def holds(self, request_id):
        """Whether the locks may be used now. It looks at the clock: a timer may be late."""
        a = self.acquisitions.get(request_id)
        return a is not None and a.state == "held" and not self.closing and now() < min(self.deadline, a.jeopardy_until)

    async def close(self):
        self.closing = True
        self.send(close=session_pb2.CloseSession())
        await asyncio.wait([self.task], timeout=5)
        self.end("CLOSED")
        if self.closed:
            await asyncio.wait([self.closed], timeout=5)

    # One stream after the other.

    async def run(self):
        try:
            for server in itertools.cycle(self.servers):
                pause = await self.stream(server)
                await asyncio.sleep(max(pause, self.backoff()))
                self.attempts += 1
        except Over as over:
            self.end(str(over))

    def backoff(self):
        return min(2.0, 0.05 * 2 ** min(self.attempts, 10)) * random.uniform(0.5, 1.0)

    async def stream(self, server):
        """One stream from its open to its end. Returns how long the server wants the client to stay away."""
        options = [("grpc.use_local_subchannel_pool", 1)]  # each stream has a connection of its own
        async with grpc.aio.insecure_channel(server, options) as channel:
            call, self.outbox = rpc.LockServiceStub(channel).Session(), asyncio.Queue()
            began = self.last_sent = now()  # before the message leaves
            self.outbox.put_nowait(session_pb2.SessionRequest(open=self.opening()))
            writer = self.loop.create_task(self.write(call, self.outbox))
            try:
                # Half of what the lease has left leaves time for another server.
                self.hear(await asyncio.wait_for(call.read(), min(OPENING, (self.deadline - began) / 2)))
                while self.is_open:  # none if that was stale, or no answer to an open
                    self.hear(await asyncio.wait_for(call.read(), self.patience()))
            except Left as left:
                return left.args[0]
            except asyncio.TimeoutError:
                pass
            except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
                return self.on_error(await call.code(), await call.trailing_metadata())
            finally:
                if self.is_open and now() - began > 2:
                    self.attempts = 0  # a stream that lasted
                self.is_open = False
                self.timer("keep-alive")
                call.cancel()
                writer.cancel()
            return 0

    def opening(self):
        ttl = None if self.lease_id else to_duration(self.ttl)
        return session_pb2.OpenSession(lease_id=self.lease_id, lease_secret=self.secret, ttl=ttl, batches=True)

    async def write(self, call, outbox):
        with contextlib.suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):  # the reader hears why
            while True:
                await call.write(await outbox.get())

    def patience(self):
        """How long the stream may be silent yet: until a keep-alive has had no answer for two intervals."""
        oldest = min(self.unanswered.values(), default=self.last_sent + self.interval)
        return oldest + max(1.0, 2 * self.interval) - now()

    def on_error(self, code, metadata):
        if (code in HOPELESS and not self.lease_id) or code in (grpc.StatusCode.NOT_FOUND, grpc.StatusCode.FAILED_PRECONDITION):
            raise Over(code.name)
        return retry_delay(metadata)  # any other error says nothing about the lease

    def hear(self, response):
        if now() >= self.deadline:
            raise Over("EXPIRED")  # what comes later revives nothing
        if response is grpc.aio.EOF:
            raise Left(0)
        if not self.is_stale(response):
            kind = response.WhichOneof("response")
            handler = getattr(self, f"on_{kind}", None)  # None: of a later version, or of no interest
            if handler:
                handler(getattr(response, kind))

    def is_stale(self, message):
        """Whether somebody speaks who does not serve the lease any more."""
        if message.HasField("going_away"):
            return False  # about the stream, not about the lease
        stale, self.epoch = message.epoch < self.epoch, max(self.epoch, message.epoch)
        return stale

    def on_batch(self, batch):
        for response in batch.responses:
            self.hear(response)

    def on_opened(self, opened):
        if not self.lease_id:
            self.lease_id, self.deadline = opened.lease_id, 0
        self.is_open, self.unanswered = True, {}
        self.extend(self.last_sent, opened.valid_for, opened.keep_alive_interval)
        self.repeat()
        if self.closing:
            self.send(close=session_pb2.CloseSession())

    def repeat(self):
        """Asks again for all that waits or is held, and only then for what is to be released."""
        for acquisition in sorted(self.acquisitions.values(), key=lambda a: a.state == "releasing"):
            self.ask(acquisition)

    def on_going_away(self, message):
        if message.reason == session_pb2.GOING_AWAY_REASON_SUPERSEDED:
            raise Over("SUPERSEDED")
        raise Left(to_seconds(message.resume_after))

    def on_lease_ended(self, ended):
        raise Over(reason_of(ended))

    # The deadline, and what moves it on.

    def extend(self, sent, valid_for, interval):
        self.deadline = max(sent + to_seconds(valid_for), self.deadline)
        self.interval = max(0.1, to_seconds(interval))
        self.timer("deadline", self.deadline, lambda: self.end("EXPIRED"))
        self.timer("keep-alive", self.last_sent + self.interval, self.send_keep_alive)

    def send_keep_alive(self):
        nonce = next(self.nonces)
        self.unanswered[nonce] = self.last_sent = now()
        self.send(keep_alive=session_pb2.SessionKeepAlive(nonce=nonce))
        self.timer("keep-alive", self.last_sent + self.interval, self.send_keep_alive)

    def on_kept_alive(self, kept):
        sent = self.unanswered.get(kept.nonce)
        if sent is not None:  # It does for those before it, so a late answer to one of them counts for nothing.
            self.unanswered = {nonce: at for nonce, at in self.unanswered.items() if nonce > kept.nonce}
            self.extend(sent, kept.valid_for, kept.keep_alive_interval)

    # Requests and what becomes of them.

    def ask(self, acquisition):
        if acquisition.state == "releasing":
            return self.send(release=acquisition_pb2.ReleaseRequest(request_id=acquisition.request_id))
        left = None if acquisition.give_up == NEVER else to_duration(max(0, acquisition.give_up - now()))
        self.send(acquire=acquisition_pb2.AcquireRequest(
            request_id=acquisition.request_id, wait_timeout=left, held_tokens=acquisition.tokens,
            locks=[acquisition_pb2.LockRequest(name=name) for name in acquisition.locks]))

    def on_event(self, event):
        acquisition, kind = self.acquisitions.get(event.request_id), event.WhichOneof("event")
        if acquisition is None and kind not in FINAL:
            self.release_unknown(event.request_id)
        if acquisition is None or not self.is_new(acquisition, event):
            return
        if kind == "granted":
            self.on_granted(acquisition, event.granted)
        elif kind == "jeopardy":
            acquisition.jeopardy_until = now() + to_seconds(event.jeopardy.valid_for)
        elif kind == "safe":
            acquisition.jeopardy_until = NEVER
        elif kind in ("lost", "not_acquired"):
            self.finish(acquisition, reason_of(getattr(event, kind)))
        elif kind == "released":
            self.finish(acquisition)

    def release_unknown(self, request_id):
        """A server has queued or granted what is over here. The caller is told nothing."""
        self.acquisitions[request_id] = unknown = Acquisition(request_id, [], None)
        unknown.told = True
        self.release(request_id)

    def is_new(self, acquisition, event):
        number = (event.epoch, event.sequence)
        new, acquisition.last = number > acquisition.last, max(number, acquisition.last)
        return new and event.sequence > 0

    def on_granted(self, acquisition, granted):
        tokens = [grant.fencing_token for grant in granted.grants]
        acquisition.jeopardy_until = NEVER
        if acquisition.state == "waiting":
            acquisition.state, acquisition.tokens = "held", tokens
            self.tell("granted", acquisition.request_id, tokens=tokens)
        elif acquisition.state == "held" and acquisition.tokens != tokens:  # not the hold that the caller has
            self.tell("lost", acquisition.request_id, reason="OTHER_TOKENS")
            acquisition.told = True
            self.release(acquisition.request_id)

    def on_released(self, released):
        if released.request_id in self.acquisitions:
            self.finish(self.acquisitions[released.request_id])

    def on_refused(self, refused):
        kind = refused.WhichOneof("request")
        again = now() + max(0.05, to_seconds(refused.retry_after)) if refused.HasField("retry_after") else NEVER
        if kind == "close":
            raise Over("CLOSED")  # the TTL does the rest
        if kind == "keep_alive" and again < NEVER:
            self.timer("keep-alive", again, self.send_keep_alive)
        acquisition = self.acquisitions.get(getattr(refused, kind)) if kind in ("acquire", "release") else None
        if acquisition is None or (kind == "release") != (acquisition.state == "releasing"):
            return  # while it is released, the answer to the release decides
        if again < (acquisition.give_up if acquisition.state == "waiting" else NEVER):
            self.timer(acquisition, again, lambda: self.ask(acquisition))
        else:
            self.finish(acquisition, reason_of(refused))

    def finish(self, acquisition, reason=""):
        self.timer(acquisition)
        if self.acquisitions.pop(acquisition.request_id, None) and not acquisition.told:
            self.tell(ENDINGS[acquisition.state], acquisition.request_id, reason=reason)

    def end(self, reason):
        """The lease is over, with all that it held."""
        if self.over:
            return
        self.over = True
        self.task.cancel()
        for acquisition in list(self.acquisitions.values()):
            self.finish(acquisition, reason)
        for name in list(self.timers):
            self.timer(name)
        if self.lease_id and reason not in KEPT:
            self.closed = self.loop.create_task(self.close_lease())

    async def close_lease(self):
        """Closes the lease that was given up: whoever serves it would keep its locks until it expires."""
        give_up = now() + CLOSING
        request = lease_service_pb2.CloseLeaseRequest(lease_id=self.lease_id)
        for failures, server in enumerate(itertools.cycle(self.servers)):
            async with grpc.aio.insecure_channel(server) as channel:
                try:
                    return await lease_service_pb2_grpc.LeaseServiceStub(channel).CloseLease(request, timeout=OPENING)
                except grpc.aio.AioRpcError as error:
                    self.attempts, pause = failures, retry_delay(error.trailing_metadata())
                    if error.code() not in PASSING or now() > give_up:
                        return None
            await asyncio.sleep(max(pause, self.backoff()))

    # Small things.

    def send(self, **request):
        if self.is_open:  # without a stream, the next one repeats what counts
            self.outbox.put_nowait(session_pb2.SessionRequest(**request))

    def timer(self, name, at=None, action=None):
        """Sets the timer of that name anew, or stops it."""
        if name in self.timers:
            self.timers.pop(name).cancel()
        if at is not None:
            self.timers[name] = self.loop.call_later(at - now(), action)


def to_seconds(duration):
    return duration.seconds + duration.nanos / 1e9


def to_duration(seconds):
    return Duration(seconds=int(seconds), nanos=int(seconds % 1 * 1e9))


def reason_of(message):
    """The reason's name without the enum's prefix; "UNKNOWN" where a later version has named it."""
    names = message.DESCRIPTOR.fields_by_name["reason"].enum_type.values_by_number
    prefix = names[0].name.removesuffix("UNSPECIFIED")
    return names[message.reason].name.removeprefix(prefix) if message.reason in names else "UNKNOWN"


def retry_delay(metadata):
    """How long the server wants to be left alone, if its status says so."""
    info = RetryInfo()
    status = Status.FromString(metadata.get("grpc-status-details-bin", b"") if metadata else b"")
    return max((to_seconds(info.retry_delay) for detail in status.details if detail.Unpack(info)), default=0)
