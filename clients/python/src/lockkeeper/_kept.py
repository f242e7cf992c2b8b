"""Locks that are kept: what its user has released serves the next one of the client without a message, as long as nobody else wants it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lockkeeper._acquisition import NEVER, Acquisition, State
from lockkeeper._clock import now
from lockkeeper.errors import LockkeeperError, NotAcquiredError
from lockkeeper.requests import LockRequest, LockSpec
from lockkeeper.v1 import lock_service_pb2 as pb

if TYPE_CHECKING:
    from lockkeeper._lease import Lease

MOST_UNUSED = 1_000
_FOR_THOSE_BEFORE = 1.0  # seconds for those who waited in the client when the lock was wanted back
_RELEASED = pb.ReleaseResponse(outcome=pb.RELEASE_OUTCOME_RELEASED)
Alike = tuple[tuple[LockSpec, ...], float]


class Use(Acquisition):
    """A request for locks that may be kept: it asks a server, waits in the client, or uses what is held."""

    def __init__(self, request_id: str, request: LockRequest, on_event: Callable[[str, Any], None]) -> None:
        super().__init__(request_id, request, on_event)
        self.alike: Alike = (request.specs, round(request.lock_delay, 3))
        self.hold: Hold | None = None  # that it asks for, waits for or uses
        self.timer: asyncio.TimerHandle | None = None  # of its wait in the client

    def until(self, lease_deadline: float) -> float:
        return NEVER if self.hold is None else self.hold.until(lease_deadline)

    @property
    def hold_limit(self) -> float:
        return NEVER

    def begin(self, hold: Hold, level: int) -> None:
        """The locks are held, at a level of the owner's."""
        self.hold = hold
        self.request_id = hold.request_id
        self.state = State.HELD
        self.grants = hold.grants if level == 1 else tuple(replace(grant, hold_count=level) for grant in hold.grants)
        if not self.granted.done():
            self.granted.set_result(None)


class Hold(Acquisition):
    """What the servers know of it: one request, for whoever uses it. Several users at a time are levels of one owner."""

    def __init__(self, keeper: Keeper, first: Use) -> None:
        request = replace(first.request, owner="", deadlock_check=False, notify_contention=True, keep_unused=None)
        super().__init__(first.request_id, request, lambda kind, value: None)
        self.give_up = first.give_up
        self.alike = first.alike
        self.excludes = any(spec._excludes for spec in request.specs)
        self.counts = any(spec._counts for spec in request.specs)
        self.users = [first]
        self.waiting: dict[Use, None] = {}  # in the client, in their order
        self.wanted = False  # back
        self.wanted_by: dict[str, Any] = {}  # the events that said so, for who uses it next
        self.give_until = NEVER  # to those who wait in the client
        self.is_unused = False
        self.unused_until = NEVER
        self.passed_on = False
        self.timer: asyncio.TimerHandle | None = None
        self.timer_at = NEVER
        self._keeper = keeper

    def until(self, lease_deadline: float) -> float:
        return min(lease_deadline, self.jeopardy_until)

    def on_granted(self, granted: pb.Granted) -> None:
        super().on_granted(granted)
        self._keeper._on_granted(self)

    def fail(self, error: LockkeeperError) -> None:
        super().fail(error)
        self._fail_users(error)

    def give_up_waiting(self, error: LockkeeperError) -> None:
        super().give_up_waiting(error)
        self._fail_users(error)

    def _fail_users(self, error: LockkeeperError) -> None:
        users, self.users = self.users, []
        for use in users:
            use.fail(error)

    def tell(self, kind: str, value: Any) -> None:
        if kind == "lost":
            self._keeper._on_lost(self, value)
            return
        if self.state is State.HELD and kind in ("contended", "release_requested", "jeopardy"):
            if kind != "jeopardy":  # which may be over by then
                self.wanted_by[kind] = value
            self._keeper._want_back(self)
        for use in list(self.users):
            use.tell(kind, value)


class Keeper:
    """The kept locks of one lease: which are unused, who uses the others, and who waits for them in the client.

    Taking and releasing such a lock starts no timer and stops none: a timer that fires early looks when it is time, and is set again.
    """

    def __init__(self, lease: Lease) -> None:
        self.waiting: dict[Use, None] = {}
        self._lease = lease
        self._loop = asyncio.get_running_loop()
        self._unused = 0
        self._sole: dict[Alike, Hold] = {}  # which exclude each other: used or not, as long as nobody wants them back
        self._shared: dict[Alike, dict[Hold, None]] = {}  # of which there may be several: those that are unused
        self._owned: dict[tuple[str, str], dict[Hold, None]] = {}  # what an owner uses, by the owner and each lock's name

    def acquire(self, use: Use) -> None:
        """Grants what is kept, or lets the request wait for it here, or asks a server."""
        own = self._own(use)
        if own is not None:
            self._begin(own, use)
            return
        hold = self._sole.get(use.alike) or next(reversed(self._shared.get(use.alike, {})), None)
        if hold is not None and not hold.users and self._lease.is_valid(hold):
            self._take_unused(hold)
            self._begin(hold, use)
            return
        use.message()  # what cannot be sent fails here
        if self.refuses(use):
            return
        if hold is not None and hold.users:
            self._wait(hold, use)
        else:
            self._ask(use)

    def release(self, use: Use) -> None:
        """Ends a use, or withdraws a request."""
        hold = use.hold
        if use.state is State.WAITING:
            if use in self.waiting:
                self._stop_waiting(use)
            elif hold is not None:
                hold.users.clear()
                self._lease.release(hold)
            use.fail(NotAcquiredError(f"{use.request}: withdrawn", "WITHDRAWN"))
        elif use.state is State.HELD and hold is not None:
            hold.users.remove(use)
            left = len(hold.users)
            result = pb.ReleaseResponse(outcome=pb.RELEASE_OUTCOME_DECREMENTED, remaining_holds=left) if left else _RELEASED
            use.finish(None if use.lost_reason else result)
            if not left:
                self._pass_on(hold, use.request)

    def refuses(self, acquisition: Acquisition) -> bool:
        """Refuses what would wait for its own owner where no server sees that: of kept locks they know no owner."""
        request = acquisition.request
        if not request.owner:
            return False
        asked = {spec.name: spec for spec in request.specs}
        holds: list[Acquisition] = [hold for name in asked for hold in self._owned.get((request.owner, name), ())]
        if isinstance(acquisition, Use):
            holds += [held for held in self._lease.held() if held.request.owner == request.owner]
        for spec in [spec for hold in holds for spec in hold.request.specs if spec.name in asked]:
            if spec._excludes or asked[spec.name]._excludes:
                words = f'{request}: its owner holds "{spec.name}", and would wait for itself'
                acquisition.fail(NotAcquiredError(words, "WOULD_DEADLOCK"))
                return True
        return False

    def end(self, why: Callable[[LockRequest], LockkeeperError]) -> None:
        """The lease ends: nobody waits any more."""
        for use in list(self.waiting):
            self._stop_waiting(use)
            use.fail(why(use.request))

    # Those who use it, one after the other.

    def _own(self, use: Use) -> Hold | None:
        """What is granted to its owner once more. Of permits each request takes its own."""
        owner = use.request.owner
        for hold in list(self._owned.get((owner, use.request.specs[0].name), ())) if owner else ():
            if hold.alike == use.alike and not hold.counts:
                if self._lease.is_valid(hold):
                    return hold
                self._lease.lose(hold, "DEADLINE_PASSED")  # its timer is late
        return None

    def _begin(self, hold: Hold, use: Use) -> None:
        hold.users.append(use)
        use.begin(hold, len(hold.users))
        if len(hold.users) == 1 and use.request.owner:
            for spec in use.request.specs:
                self._owned.setdefault((use.request.owner, spec.name), {})[hold] = None
        for kind, value in hold.wanted_by.items():
            use.tell(kind, value)
        if hold.jeopardy_until != NEVER:
            use.tell("jeopardy", hold.jeopardy_until - now())

    def _disown(self, hold: Hold, owner: str) -> None:
        for spec in hold.request.specs if owner else ():
            owned = self._owned[owner, spec.name]
            del owned[hold]
            if not owned:
                del self._owned[owner, spec.name]

    def _pass_on(self, hold: Hold, last: LockRequest) -> None:
        """Its last user has released it: gives it to the next, keeps it, or gives it back."""
        self._disown(hold, last.owner)
        if not hold.passed_on:
            hold.passed_on = True
            hold.grants = tuple(replace(grant, previous_end="RELEASED") for grant in hold.grants)
        valid = self._lease.is_valid(hold)
        if valid and hold.waiting and now() < hold.give_until:
            use = next(iter(hold.waiting))
            self._stop_waiting(use)
            self._begin(hold, use)
        elif valid and not hold.wanted and self._unused < MOST_UNUSED:
            hold.is_unused = True
            self._unused += 1
            if not hold.excludes:
                self._shared.setdefault(hold.alike, {})[hold] = None
            hold.unused_until = now() + (last.keep_unused or 0.0)
            if hold.timer is None or hold.unused_until < hold.timer_at:
                self._set_timer(hold, hold.unused_until)
        else:
            self._give_back(hold)

    def _take_unused(self, hold: Hold) -> None:
        hold.is_unused = False
        self._unused -= 1
        if not hold.excludes:
            unused = self._shared[hold.alike]
            del unused[hold]
            if not unused:
                del self._shared[hold.alike]

    # Those who wait for it here.

    def _wait(self, hold: Hold, use: Use) -> None:
        if use.give_up <= now():
            self._time_out(use)
            return
        places = [pb.QueuePosition(name=spec.name, ahead=1 + len(hold.waiting)) for spec in use.request.specs]
        use.hold = hold
        hold.waiting[use] = self.waiting[use] = None
        if use.give_up != NEVER:
            use.timer = self._loop.call_later(use.give_up - now(), self._time_out, use)
        use.tell("queued", pb.Queued(positions=places))

    def _time_out(self, use: Use) -> None:
        self._stop_waiting(use)
        use.fail(NotAcquiredError(f"{use.request}: not granted in time: in use in this client", "TIMED_OUT"))

    def _stop_waiting(self, use: Use) -> None:
        if use.timer is not None:
            use.timer.cancel()
        if use.hold is not None:
            use.hold.waiting.pop(use, None)
        self.waiting.pop(use, None)
        use.timer = use.hold = None

    def _ask(self, use: Use) -> None:
        use.hold = Hold(self, use)
        self._lease.acquire(use.hold)

    def _ask_for_all(self, hold: Hold) -> None:
        for use in list(hold.waiting):
            self._stop_waiting(use)
            self._ask(use)

    # What a server says of it, and the clock.

    def _on_granted(self, hold: Hold) -> None:
        if hold.excludes:
            self._sole[hold.alike] = hold
        self._begin(hold, hold.users.pop())

    def _want_back(self, hold: Hold) -> None:
        """Somebody else wants it, or it is not certain that it can be kept. That stays so."""
        if hold.wanted:
            return
        hold.wanted = True
        if not hold.users:
            self._give_back(hold)
            return
        self._outdate(hold)  # who comes later asks a server
        if hold.waiting:
            hold.give_until = now() + _FOR_THOSE_BEFORE
            self._set_timer(hold, hold.give_until)

    def _give_back(self, hold: Hold) -> None:
        self._forget(hold)
        self._lease.release(hold)
        self._ask_for_all(hold)

    def _on_lost(self, hold: Hold, reason: str) -> None:
        self._forget(hold)
        users, hold.users = hold.users, []
        for use in users:
            use.lose(reason)
            use.finish(None)
        self._ask_for_all(hold)

    def _forget(self, hold: Hold) -> None:
        """It is not kept any more."""
        self._outdate(hold)
        if hold.users:
            self._disown(hold, hold.users[0].request.owner)
        elif hold.is_unused:
            self._take_unused(hold)
        if hold.timer is not None:
            hold.timer.cancel()
            hold.timer = None

    def _outdate(self, hold: Hold) -> None:
        if self._sole.get(hold.alike) is hold:
            del self._sole[hold.alike]

    def _set_timer(self, hold: Hold, at: float) -> None:
        if hold.timer is not None:
            hold.timer.cancel()
        hold.timer_at = at
        hold.timer = self._loop.call_later(max(0.0, at - now()), self._on_time, hold)

    def _on_time(self, hold: Hold) -> None:
        hold.timer = None
        if hold.wanted:
            self._ask_for_all(hold)
        elif not hold.users and now() >= hold.unused_until:
            self._give_back(hold)
        elif not hold.users:
            self._set_timer(hold, hold.unused_until)
