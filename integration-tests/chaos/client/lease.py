"""One lease over one Session stream at a time: resumed at whichever server answers, with lease id and secret; what was
asked for is repeated there. Obeys its own deadline and believes nothing that comes after it."""

import queue
import random
import threading
import time

import grpc

from lockkeeper.v1 import lock_service_pb2 as pb
from lockkeeper.v1 import lock_service_pb2_grpc as rpc
from lockkeeper.v1 import types_pb2 as types

OPENING_NANOS = 3_000_000_000
SHORTEST_SILENCE_NANOS = 1_000_000_000
SHORTEST_INTERVAL_NANOS = 100_000_000
TICK_SECONDS = 0.1
RETRY_SECONDS = 0.5
RETRIED = {grpc.StatusCode.UNAVAILABLE.value[0], grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]}
GONE = {grpc.StatusCode.NOT_FOUND.value[0], grpc.StatusCode.FAILED_PRECONDITION.value[0]}
# Every attempt makes a connection of its own: one that hangs must not be shared with the next.
CHANNEL = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0)]


def nanos(duration):
    return duration.seconds * 1_000_000_000 + duration.nanos


def deadline(sent, promised):
    """Less two percent for clocks of unequal rate, and 50 ms."""
    return sent + promised - promised // 50 - 50_000_000


class Acquisition:
    """One request: asking, then held, then leaving, then over; or over from anywhere."""

    def __init__(self, name, request):
        self.name = name
        self.request = request
        self.state = "asking"
        self.tokens = []
        self.retry_at = None


class Lease:
    def __init__(self, name, servers, history):
        self.name = name
        self.servers = servers
        self.history = history
        self.changed = threading.Condition()
        self.acquisitions = {}
        self.epoch = 0
        self.lease_id = ""
        self.secret = ""
        self.tag = ""
        self.valid_until = 0
        self.closing = False
        self.over = False
        self.call = None
        self.requests = None
        self.open = False
        self.opened_at = 0
        self.pending = {}
        self.nonce = 0
        self.last_keep_alive = 0
        self.interval = 0
        self.resume_at = 0
        self.given_up = 0
        self.threads = [threading.Thread(target=t, daemon=True) for t in (self.connect_loop, self.tick_loop)]
        for thread in self.threads:
            thread.start()

    # What the worker calls.

    def acquire(self, acquisition):
        with self.changed:
            self.acquisitions[acquisition.name] = acquisition
            self.send(acquire=self.acquire_request(acquisition))
            self.changed.notify_all()

    def await_state(self, acquisition, states, seconds=None):
        """Waits until the acquisition is in one of the states; says whether it is."""
        with self.changed:
            return self.changed.wait_for(lambda: acquisition.state in states, seconds)

    def is_valid(self, acquisition):
        with self.changed:
            return acquisition.state == "held" and time.monotonic_ns() < self.valid_until

    def release(self, acquisition):
        """Releases or withdraws; the answer makes it over."""
        with self.changed:
            if acquisition.state == "held":
                self.history.write("release", a=acquisition.name, until=self.valid_until)
            if acquisition.state != "over":
                acquisition.state = "leaving"
                self.send(release=self.release_request(acquisition))

    def close(self):
        """Ends the lease, as far as that can be told to a server within some seconds."""
        with self.changed:
            self.closing = True
            self.send(close=pb.CloseSession())
            self.changed.wait_for(lambda: not self.lease_id, 5)
            self.over = True
            self.hang_up()
            self.changed.notify_all()
        for thread in self.threads:
            thread.join(5)

    # Below, all but the loops is called with the lock held.

    def send(self, **request):
        if self.open:
            self.requests.put(pb.SessionRequest(**request))

    def acquire_request(self, acquisition):
        request = pb.AcquireRequest()
        request.CopyFrom(acquisition.request)
        if acquisition.tokens and "held_tokens" in request.DESCRIPTOR.fields_by_name:
            request.held_tokens.extend(acquisition.tokens)
        return request

    @staticmethod
    def release_request(acquisition):
        return pb.ReleaseRequest(request_id=acquisition.name)

    def hang_up(self):
        self.open = False
        if self.requests:
            self.requests.put(None)
        if self.call:
            self.call.cancel()
            self.call = None  # What has arrived on it already may be of a lease that is over, with another epoch.

    def connect_loop(self):
        index = random.randrange(len(self.servers))
        while not self.over:
            with self.changed:
                self.changed.wait_for(lambda: self.over or self.lease_id or self.acquisitions)
                if self.over:
                    return
                pause = (self.resume_at - time.monotonic_ns()) / 1e9
            if pause > 0:
                time.sleep(min(pause, 5))
            index += 1
            with grpc.insecure_channel(self.servers[index % len(self.servers)], CHANNEL) as channel:
                self.stream(channel, self.servers[index % len(self.servers)])
            time.sleep(random.uniform(0.05, 0.3))

    def stream(self, channel, server):
        """Lives with one stream until it ends."""
        with self.changed:
            self.requests = queue.Queue()
            opening = pb.OpenSession(holder=self.name, lease_id=self.lease_id, lease_secret=self.secret)
            self.opened_at = time.monotonic_ns()
            self.pending = {}
            self.requests.put(pb.SessionRequest(open=opening))
            self.call = rpc.LockServiceStub(channel).Session(iter(self.requests.get, None))
            call = self.call
        try:
            for response in call:
                with self.changed:
                    if self.call is not call or not self.hear(response, server):
                        break
        except grpc.RpcError as error:
            print(f"{self.name}: {server}: {error.code()} {error.details()}", flush=True)
        finally:
            with self.changed:
                if self.call is call:
                    self.hang_up()

    def tick_loop(self):
        while not self.over:
            time.sleep(TICK_SECONDS)
            with self.changed:
                self.tick(time.monotonic_ns())

    def tick(self, now):
        if self.lease_id and now > self.valid_until:
            self.send(close=pb.CloseSession())
            self.lease_over("DEADLINE_PASSED")
            self.hang_up()
            return
        if not self.call:
            return
        if not self.open:
            if now - self.opened_at > OPENING_NANOS:
                self.given_up += 1
                self.hang_up()
            return
        if self.pending and now - min(self.pending.values()) > max(SHORTEST_SILENCE_NANOS, 2 * self.interval):
            self.hang_up()
            return
        if now - self.last_keep_alive > self.interval:
            self.last_keep_alive = now
            self.nonce += 1
            self.pending[self.nonce] = now
            self.send(keep_alive=pb.SessionKeepAlive(nonce=self.nonce))
        for acquisition in list(self.acquisitions.values()):
            if acquisition.retry_at and now > acquisition.retry_at:
                acquisition.retry_at = None
                self.repeat(acquisition)

    def repeat(self, acquisition):
        if acquisition.state == "leaving":
            self.send(release=self.release_request(acquisition))
        elif acquisition.state == "asking" or "held_tokens" in pb.AcquireRequest.DESCRIPTOR.fields_by_name:
            self.send(acquire=self.acquire_request(acquisition))

    def hear(self, response, server):
        """Takes one response; false if the stream is of no more use."""
        if self.lease_id and time.monotonic_ns() > self.valid_until:
            self.lease_over("DEADLINE_PASSED")
            return False
        kind = response.WhichOneof("response")
        if kind != "going_away":
            if response.epoch < self.epoch:
                return kind != "opened"  # Void: of a server that another has replaced.
            self.epoch = response.epoch
        if kind == "opened":
            self.on_opened(response.opened, server)
        elif kind == "kept_alive":
            self.on_kept_alive(response.kept_alive)
        elif kind == "event":
            self.on_event(response.event)
        elif kind == "released":
            self.on_released(response.released)
        elif kind == "refused":
            self.on_refused(response.refused)
        elif kind == "going_away":
            if response.going_away.reason == pb.GOING_AWAY_REASON_SUPERSEDED and not self.superseded_itself():
                self.lease_over("SUPERSEDED")  # To resume would be to take it from each other for ever.
                return False
            wait = min(nanos(response.going_away.resume_after), 2_000_000_000)
            self.resume_at = time.monotonic_ns() + wait
            return False
        elif kind == "lease_ended":
            self.lease_over(types.LeaseEndReason.Name(response.lease_ended.reason).removeprefix("LEASE_END_REASON_"))
            return False
        return True

    def superseded_itself(self):
        """Whether an open that was given up may have arrived late; each one explains one stream's end."""
        self.given_up -= 1
        return self.given_up >= 0

    def on_opened(self, opened, server):
        if not opened.resumed:
            self.lease_id, self.secret, self.tag = opened.lease_id, opened.lease_secret, opened.lease_tag
            self.valid_until = 0
        self.extend(self.opened_at, opened)
        self.last_keep_alive = self.opened_at
        self.open = True
        self.history.write("opened", lease=self.tag, server=server, resumed=opened.resumed)
        for acquisition in list(self.acquisitions.values()):
            self.repeat(acquisition)
        if self.closing:
            self.send(close=pb.CloseSession())

    def on_kept_alive(self, kept):
        sent = self.pending.get(kept.nonce)
        if sent is not None:  # It does for those before it.
            self.pending = {nonce: at for nonce, at in self.pending.items() if nonce > kept.nonce}
            self.extend(sent, kept)

    def extend(self, sent, answer):
        self.interval = max(SHORTEST_INTERVAL_NANOS, nanos(answer.keep_alive_interval))
        until = deadline(sent, nanos(answer.valid_for))
        if until > self.valid_until:
            self.valid_until = until
            for acquisition in self.acquisitions.values():
                if acquisition.state == "held":
                    self.history.write("extended", a=acquisition.name, until=until)

    def on_event(self, event):
        acquisition = self.acquisitions.get(event.request_id)
        kind = event.WhichOneof("event")
        if acquisition is None:
            if kind in ("granted", "queued"):
                self.send(release=pb.ReleaseRequest(request_id=event.request_id))
        elif kind == "queued":
            # Without positions: the server cannot tell them now.
            if acquisition.state == "asking" and event.queued.positions:
                self.history.write("queued", a=acquisition.name, lease=self.tag, ahead=event.queued.positions[0].ahead)
        elif kind == "granted":
            self.on_granted(acquisition, [grant.fencing_token for grant in event.granted.grants])
        elif kind == "lost":
            self.lose(acquisition, types.LossReason.Name(event.lost.reason).removeprefix("LOSS_REASON_"))
        elif kind == "not_acquired":
            reason = types.NotAcquiredReason.Name(event.not_acquired.reason)
            self.deny(acquisition, reason.removeprefix("NOT_ACQUIRED_REASON_"))
        elif kind == "released" and acquisition.state != "leaving":
            self.lose(acquisition, "RELEASED")  # Leaving, what the release did is said by its answer.

    def on_granted(self, acquisition, tokens):
        if acquisition.state == "asking":
            acquisition.state = "held"
            acquisition.tokens = tokens
            self.history.write(
                "granted", a=acquisition.name, lease=self.tag, token=tokens[0], until=self.valid_until
            )
            self.changed.notify_all()
        elif acquisition.state == "held" and acquisition.tokens != tokens:
            self.history.write("stuck", what=f"{acquisition.name} held {acquisition.tokens}, now told {tokens}")

    def on_released(self, released):
        acquisition = self.acquisitions.get(released.request_id)
        if acquisition is not None:
            if acquisition.state != "leaving":
                self.lose(acquisition, "RELEASED")
            else:
                outcome = pb.ReleaseOutcome.Name(released.result.outcome).removeprefix("RELEASE_OUTCOME_")
                self.end(acquisition, "released", outcome)

    def on_refused(self, refused):
        which = refused.WhichOneof("request")
        if which not in ("acquire", "release"):
            return
        acquisition = self.acquisitions.get(getattr(refused, which))
        if acquisition is None:
            return
        if acquisition.state == "leaving" and refused.code in GONE:
            self.end(acquisition, "released", "gone")
        elif acquisition.state == "held":
            print(f"{self.name}: {acquisition.name} is held, yet refused: {refused}", flush=True)
        elif acquisition.state == "leaving" or refused.code in RETRIED:
            acquisition.retry_at = time.monotonic_ns() + int(RETRY_SECONDS * 1e9)
        else:
            self.refuse(acquisition, f"REFUSED {refused.code} {refused.message}")

    def lease_over(self, reason):
        self.lease_id = self.secret = ""
        self.epoch = self.given_up = 0
        for acquisition in list(self.acquisitions.values()):
            if acquisition.state == "leaving":
                self.end(acquisition, "released", "lease over")
            else:
                self.lose(acquisition, reason)
        self.changed.notify_all()

    def lose(self, acquisition, reason):
        if acquisition.state == "held":
            self.history.write("lost", a=acquisition.name, until=self.valid_until, reason=reason)
            self.forget(acquisition)
        elif acquisition.state == "leaving":
            self.end(acquisition, "released", "lost")
        else:
            self.refuse(acquisition, "LEASE_LOST " + reason)

    def deny(self, acquisition, reason):
        """Was never granted, says the server; that is wrong if it was, unless the release came between."""
        if acquisition.state == "held":
            self.history.write("denied", a=acquisition.name, reason=reason)
            self.lose(acquisition, "NOT_ACQUIRED")
        else:
            self.end(acquisition, "released" if acquisition.tokens else "refused", reason)

    def refuse(self, acquisition, reason):
        self.end(acquisition, "refused", reason)

    def end(self, acquisition, event, reason):
        if not acquisition.tokens:
            event, reason = "refused", "WITHDRAWN" if event == "released" else reason
        self.history.write(event, a=acquisition.name, reason=reason)
        self.forget(acquisition)

    def forget(self, acquisition):
        acquisition.state = "over"
        self.acquisitions.pop(acquisition.name, None)
        self.changed.notify_all()
