"""One request for locks, from the asking to its end."""

from __future__ import annotations

import asyncio
import enum
import logging
from collections.abc import Callable, Iterable
from typing import Any

from lockkeeper._clock import now
from lockkeeper._messages import enum_name
from lockkeeper.errors import LockkeeperError
from lockkeeper.events import Grant
from lockkeeper.requests import LockRequest
from lockkeeper.v1 import acquisition_pb2

LOG = logging.getLogger("lockkeeper")
NEVER = float("inf")


class State(enum.Enum):
    """Where a request stands: it waits, is held, is being released, has ended."""

    WAITING = "waiting"
    HELD = "held"
    RELEASING = "releasing"
    ENDED = "ended"


class Acquisition:
    """The state of one request. Its lease decides what happens to it; this tells whoever waits for that.

    ``granted`` is done when the locks are held, or fails with why not. ``ended`` is done with how a hold ended: the loss's reason, or
    the outcome of the release. ``on_event`` hears the rest, on the event loop.
    """

    def __init__(self, request_id: str, request: LockRequest, on_event: Callable[[str, Any], None]) -> None:
        loop = asyncio.get_running_loop()
        self.request_id = request_id
        self.request = request
        self.since = now()  # it is made, or no server can be reached
        self.give_up = NEVER if request.wait is None else self.since + request.wait
        self.state = State.WAITING
        self.grants: tuple[Grant, ...] = ()
        self.last = (0, 0)
        self.jeopardy_until = NEVER
        self.hold_until = NEVER
        self.outers: list[Acquisition] = []  # of the same owner, whose longest hold ends this one, too
        self.asked = False  # of a server, over a stream
        self.contended = False  # the holder was told that somebody waits
        self.lost_reason = ""
        self.granted: asyncio.Future[None] = loop.create_future()
        self.ended: asyncio.Future[acquisition_pb2.ReleaseResponse | None] = loop.create_future()
        self._on_event = on_event
        # Nobody need ask how it went.
        self.granted.add_done_callback(lambda future: future.cancelled() or future.exception())

    @property
    def tokens(self) -> list[int]:
        """The fencing tokens, in the order of the locks; empty while it waits."""
        return [grant.fencing_token for grant in self.grants]

    def until(self, lease_deadline: float) -> float:
        """Until when the locks may be used."""
        return min(lease_deadline, self.jeopardy_until, self.hold_limit)

    @property
    def hold_limit(self) -> float:
        """Until when the server lets the locks be held."""
        return min([self.hold_until] + [outer.hold_until for outer in self.outers if outer.state is not State.ENDED])

    def nest(self, every: Iterable[Acquisition]) -> None:
        """Notes which of all that are held this is a level above. Who has no owner has no levels."""
        if not self.request.owner:
            return
        ours = {(grant.name, grant.fencing_token) for grant in self.grants}
        self.outers = [
            other
            for other in every
            if other is not self
            and other.state is State.HELD
            and other.request.owner == self.request.owner
            and other.hold_until != NEVER
            and any((grant.name, grant.fencing_token) in ours for grant in other.grants)
        ]

    def message(self) -> acquisition_pb2.AcquireRequest:
        """The request as it is sent, for the first time or once more."""
        wait = None if self.give_up == NEVER else self.give_up - now()
        left = None if self.hold_until == NEVER else self.hold_until - now()
        return self.request._message(self.request_id, wait, self.tokens, self.request.max_hold if left is None else left)

    def is_new(self, event: acquisition_pb2.AcquireResponse) -> bool:
        """Whether an event is no repetition; notes that it was heard."""
        number = (event.epoch, event.sequence)
        if event.sequence <= 0 or number <= self.last:
            return False
        self.last = number
        return True

    def on_granted(self, granted: acquisition_pb2.Granted) -> None:
        """The locks are held."""
        self.state = State.HELD
        self.grants = tuple(
            Grant(grant.name, grant.fencing_token, enum_name(grant, "previous_end"), grant.hold_count, grant.waiters)
            for grant in granted.grants
        )
        if self.request.max_hold is not None:
            self.hold_until = now() + self.request.max_hold
        if not self.granted.done():
            self.granted.set_result(None)

    def on_waiters(self, granted: acquisition_pb2.Granted) -> None:
        """A grant tells of those who wait already; after a takeover only that of the repeated request does."""
        for grant in granted.grants:
            if grant.waiters > 0:
                self.on_contended(acquisition_pb2.Contended(name=grant.name, waiters=grant.waiters))

    def on_contended(self, contended: acquisition_pb2.Contended) -> None:
        """Somebody waits for what is held. It is told once, though each resume says it again."""
        if self.state is State.HELD and not self.contended:
            self.contended = True
            self.tell("contended", contended)

    def fail(self, error: LockkeeperError) -> None:
        """The locks will not be held."""
        self.state = State.ENDED
        if not self.granted.done():
            self.granted.set_exception(error)
        self._end(None)

    def give_up_waiting(self, error: LockkeeperError) -> None:
        """The caller hears that it is over; what the server may grant all the same is still to be withdrawn."""
        if not self.granted.done():
            self.granted.set_exception(error)

    def lose(self, reason: str) -> None:
        """The locks are not held any more, though nobody has released them."""
        if not self.lost_reason:
            self.lost_reason = reason
            self.tell("lost", reason)

    def finish(self, result: acquisition_pb2.ReleaseResponse | None) -> None:
        """It is over."""
        self.state = State.ENDED
        self._end(result)

    def _end(self, result: acquisition_pb2.ReleaseResponse | None) -> None:
        if not self.ended.done():
            self.ended.set_result(result)

    def tell(self, kind: str, value: Any) -> None:
        """Tells the listener; what it throws harms nobody."""
        try:
            self._on_event(kind, value)
        except Exception:
            LOG.exception("a listener of %s failed", self.request)
