"""The reference client: one lease, over one Session stream at a time. docs/writing-a-client.md explains each step.

A Lease lives once. When it is over, `tell` has heard the end of every request, and whoever wants more locks makes another.
"""

import asyncio
import itertools
import random
import secrets
import time

import grpc
from google.protobuf.duration_pb2 import Duration

from lockkeeper.v1 import lock_service_pb2 as pb
from lockkeeper.v1 import lock_service_pb2_grpc as rpc
from lockkeeper.v1 import types_pb2 as types

OPENING = 3.0  # how long a server may take to answer an open
now = time.monotonic


class Over(Exception):
    """The lease is over, for that reason."""


class Acquisition:
    """One request for locks: it waits, is held, is being released; when it has ended it is forgotten."""

    def __init__(self, request_id, locks, wait):
        self.request_id, self.locks = request_id, locks
        self.give_up = None if wait is None else now() + wait
        self.state, self.tokens, self.last = "waiting", [], (0, 0)
        self.jeopardy_until = float("inf")


class Lease:
    def __init__(self, servers, ttl, tell):
        self.servers, self.ttl, self.tell = servers, ttl, tell
        self.lease_id, self.secret, self.epoch = "", secrets.token_hex(16), 0
        self.deadline, self.interval, self.last_sent = float("inf"), 1.0, 0.0
        self.sent, self.nonces = {}, itertools.count(1)
        self.acquisitions, self.outbox, self.attempts = {}, None, 0
        self.closing = self.over = False
        self.loop, self.timers = asyncio.get_running_loop(), {}
        self.task = self.loop.create_task(self.run())

    # What a caller may ask for.

    def acquire(self, request_id, locks, wait=None):
        self.acquisitions[request_id] = acquisition = Acquisition(request_id, locks, wait)
        self.send_acquire(acquisition)

    def release(self, request_id):
        acquisition = self.acquisitions.get(request_id)
        if acquisition and acquisition.state != "releasing":
            acquisition.state = "releasing"  # from now on it does not hold, whatever becomes of the release
            self.send_release(acquisition)

    def holds(self, request_id):
        """Whether the locks may be used now. It looks at the clock: a timer may be late."""
        a = self.acquisitions.get(request_id)
        return a is not None and a.state == "held" and not self.closing and now() < min(self.deadline, a.jeopardy_until)

    async def close(self):
        self.closing = True
        self.send(close=pb.CloseSession())
        await asyncio.wait([self.task], timeout=5)
        self.end("CLOSED")

    # One stream after the other.

    async def run(self):
        try:
            for server in itertools.cycle(self.servers):
                pause = await self.stream(server)
                if self.closing:
                    raise Over("CLOSED")
                await asyncio.sleep(max(pause, self.backoff()))
                self.attempts += 1
        except Over as over:
            self.end(str(over))

    def backoff(self):
        return min(2.0, 0.05 * 2**self.attempts) * random.uniform(0.5, 1.0)

    async def stream(self, server):
        """One stream from its open to its end. Returns how long the server wants the client to stay away."""
        options = [("grpc.use_local_subchannel_pool", 1)]  # each stream has a connection of its own
        async with grpc.aio.insecure_channel(server, options) as channel:
            call, writer = rpc.LockServiceStub(channel).Session(), None
            try:
                sent = now()  # before the message leaves
                await asyncio.wait_for(call.write(pb.SessionRequest(open=self.opening())), OPENING)
                first = await asyncio.wait_for(call.read(), OPENING)
                if first is grpc.aio.EOF or self.is_stale(first):
                    return 0
                if not first.HasField("opened"):
                    return self.going_away(first.going_away)
                self.check_deadline()
                self.outbox = asyncio.Queue()
                writer = self.loop.create_task(self.write(call, self.outbox))
                self.on_opened(first.opened, sent)
                return await self.read(call)
            except asyncio.TimeoutError:
                return 0
            except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
                return self.on_error(await call.code())
            finally:
                self.outbox = None
                self.timer("keep-alive", None, None)
                call.cancel()
                if writer:
                    writer.cancel()

    def opening(self):
        if self.lease_id:
            return pb.OpenSession(lease_id=self.lease_id, lease_secret=self.secret)
        return pb.OpenSession(lease_secret=self.secret, ttl=to_duration(self.ttl))

    def on_opened(self, opened, sent):
        self.lease_id, self.sent, self.last_sent = opened.lease_id, {}, sent
        self.extend(sent, opened.valid_for, opened.keep_alive_interval)
        self.repeat_requests()
        self.repeat_releases()
        if self.closing:
            self.send(close=pb.CloseSession())

    def repeat_requests(self):
        for acquisition in self.acquisitions.values():
            if acquisition.tokens or acquisition.state == "waiting":
                self.send_acquire(acquisition)

    def repeat_releases(self):
        for acquisition in self.acquisitions.values():
            if acquisition.state == "releasing":
                self.send_release(acquisition)

    def on_error(self, code):
        if code in (grpc.StatusCode.NOT_FOUND, grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.INVALID_ARGUMENT):
            raise Over(code.name)
        return 0  # any other error says nothing about the lease

    def going_away(self, message):
        if message.reason == pb.GOING_AWAY_REASON_SUPERSEDED:
            raise Over("SUPERSEDED")
        return to_seconds(message.resume_after)

    async def write(self, call, outbox):
        try:
            while True:
                await call.write(await outbox.get())
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
            pass  # the reader hears why

    async def read(self, call):
        opened_at = now()
        while True:
            silence = max(1.5, 3 * self.interval)  # two keep-alives got no answer, at least
            response = await asyncio.wait_for(call.read(), silence)
            self.check_deadline()
            if now() - opened_at > 2:
                self.attempts = 0  # a stream that lasted
            if response is grpc.aio.EOF:
                return 0
            if self.is_stale(response):
                continue
            kind = response.WhichOneof("response")
            if kind == "going_away":
                return self.going_away(response.going_away)
            handler = getattr(self, f"on_{kind}", None)  # None: of a later version, or of no interest
            if handler:
                handler(getattr(response, kind))

    def is_stale(self, message):
        """Whether somebody speaks who does not serve the lease any more."""
        if message.HasField("going_away"):
            return False  # about the stream, not about the lease
        stale, self.epoch = message.epoch < self.epoch, max(self.epoch, message.epoch)
        return stale

    # The deadline, and what moves it on.

    def extend(self, sent, valid_for, interval):
        self.deadline = max(sent + to_seconds(valid_for), self.deadline if self.deadline < float("inf") else 0)
        self.interval = to_seconds(interval)
        self.timer("deadline", self.deadline, lambda: self.end("EXPIRED"))
        self.timer("keep-alive", self.last_sent + self.interval, self.send_keep_alive)

    def check_deadline(self):
        if now() >= self.deadline:
            raise Over("EXPIRED")  # what comes later revives nothing

    def send_keep_alive(self):
        nonce = next(self.nonces)
        self.sent[nonce] = self.last_sent = now()
        self.send(keep_alive=pb.SessionKeepAlive(nonce=nonce))
        self.timer("keep-alive", self.last_sent + self.interval, self.send_keep_alive)

    def on_kept_alive(self, kept):
        sent = self.sent.pop(kept.nonce, None)
        if sent is not None:
            self.extend(sent, kept.valid_for, kept.keep_alive_interval)

    # Requests and what becomes of them.

    def send_acquire(self, acquisition):
        left = None if acquisition.give_up is None else to_duration(max(0, acquisition.give_up - now()))
        self.send(acquire=pb.AcquireRequest(
            request_id=acquisition.request_id, wait_timeout=left, held_tokens=acquisition.tokens,
            locks=[pb.LockRequest(name=name) for name in acquisition.locks]))

    def send_release(self, acquisition):
        token = acquisition.tokens[0] if acquisition.tokens else 0
        self.send(release=pb.ReleaseRequest(request_id=acquisition.request_id, fencing_token=token))

    def on_event(self, event):
        acquisition, kind = self.acquisitions.get(event.request_id), event.WhichOneof("event")
        if acquisition is None or not self.is_new(acquisition, event):
            return
        if kind == "granted":
            self.on_granted(acquisition, event.granted)
        elif kind == "jeopardy":
            acquisition.jeopardy_until = now() + to_seconds(event.jeopardy.valid_for)
        elif kind == "safe":
            acquisition.jeopardy_until = float("inf")
        elif kind == "lost":
            self.finish(acquisition, "lost", reason_name(types.LossReason, event.lost.reason))
        elif kind == "not_acquired":
            self.finish(acquisition, "not_acquired", reason_name(types.NotAcquiredReason, event.not_acquired.reason))
        elif kind == "released":
            self.finish(acquisition, "released")

    def is_new(self, acquisition, event):
        number = (event.epoch, event.sequence)
        new, acquisition.last = number > acquisition.last, max(number, acquisition.last)
        return new and event.sequence > 0

    def on_granted(self, acquisition, granted):
        acquisition.jeopardy_until = float("inf")
        acquisition.tokens = [grant.fencing_token for grant in granted.grants]
        if acquisition.state == "waiting":  # held already: a server confirms it; releasing: too late
            acquisition.state = "held"
            self.tell("granted", acquisition.request_id, tokens=acquisition.tokens)

    def on_released(self, released):
        if released.request_id in self.acquisitions:
            self.finish(self.acquisitions[released.request_id], "released")

    def on_refused(self, refused):
        kind = refused.WhichOneof("request")
        again = now() + to_seconds(refused.retry_after) if refused.HasField("retry_after") else None
        if kind == "keep_alive" and again:
            self.timer("keep-alive", again, self.send_keep_alive)
        acquisition = self.acquisitions.get(getattr(refused, kind)) if kind in ("acquire", "release") else None
        if acquisition is None:
            return
        if again:
            send = self.send_acquire if kind == "acquire" else self.send_release
            self.timer(acquisition, again, lambda: send(acquisition))
        elif kind == "release":
            self.finish(acquisition, "released")  # what is left of it ends with the lease
        else:
            reason = reason_name(types.ErrorReason, refused.reason)
            self.finish(acquisition, "lost" if acquisition.tokens else "not_acquired", reason)

    def on_lease_ended(self, ended):
        raise Over(reason_name(types.LeaseEndReason, ended.reason))

    def finish(self, acquisition, ending, reason=""):
        self.timer(acquisition, None, None)
        if self.acquisitions.pop(acquisition.request_id, None):
            self.tell(ending, acquisition.request_id, reason=reason)

    def end(self, reason):
        """The lease is over, with all that it held."""
        self.over = True
        self.task.cancel()
        for acquisition in list(self.acquisitions.values()):
            ending = {"waiting": "not_acquired", "held": "lost", "releasing": "released"}[acquisition.state]
            self.finish(acquisition, ending, reason)
        for name in list(self.timers):
            self.timer(name, None, None)

    # Small things.

    def send(self, **request):
        if self.outbox:  # without a stream, the next one repeats what counts
            self.outbox.put_nowait(pb.SessionRequest(**request))

    def timer(self, name, at, action):
        """Sets the timer of that name anew, or stops it."""
        if name in self.timers:
            self.timers.pop(name).cancel()
        if at is not None:
            self.timers[name] = self.loop.call_at(at, action)


def to_seconds(duration):
    return duration.seconds + duration.nanos / 1e9


def to_duration(seconds):
    return Duration(seconds=int(seconds), nanos=int(seconds % 1 * 1e9))


def reason_name(enum, value):
    """The name without the enum's prefix; "UNKNOWN" where a later version has named it."""
    if value not in enum.values():
        return "UNKNOWN"
    prefix = enum.Name(0).removesuffix("UNSPECIFIED")
    return enum.Name(value).removeprefix(prefix)
