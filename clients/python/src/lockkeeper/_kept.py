"""Locks that are kept: what its user has released serves the next one of the client without a message, as long as nobody else wants it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lockkeeper._acquisition import NEVER, Acquisition, State
from lockkeeper._clock import now
from lockkeeper.errors import LockkeeperError, NotAcquiredError, ServerUnavailableError
from lockkeeper.requests import LockRequest, LockSpec
from lockkeeper.v1 import acquisition_pb2

if TYPE_CHECKING:
    from lockkeeper._lease import Lease

MOST_UNUSED = 1_000
_FOR_THOSE_BEFORE = 1.0  # seconds for those who waited in the client when the lock was wanted back
_RELEASED = acquisition_pb2.ReleaseResponse(outcome=acquisition_pb2.RELEASE_OUTCOME_RELEASED)
Alike = tuple[tuple[LockSpec, ...], float]
Key = tuple[tuple[LockSpec, ...], float, str]


class Use(Acquisition):
    """A request for locks that may be kept: it asks a server, waits in the client, or uses what is held."""

    def __init__(self, request_id: str, request: LockRequest, on_event: Callable[[str, Any], None]) -> None:
        super().__init__(request_id, request, on_event)
        self.alike: Alike = (request.specs, round(request.lock_delay, 3))
        self.excludes = any(spec._excludes for spec in request.specs)
        self.counts = any(spec._counts for spec in request.specs)
        self.key: Key | None = None  # of the line where it waits for its turn; None: it waits for nobody here
        if self.excludes:
            self.key = (*self.alike, "")
        elif request.owner and not self.counts:  # its owner is granted it once more as soon as he has it
            self.key = (*self.alike, request.owner)
        self.hold: Hold | None = None  # that it asks for or uses
        self.line: Line | None = None  # in which it waits
        self.timer: asyncio.TimerHandle | None = None  # of that wait

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


class Line:
    """Alike requests of which one at a time is at the servers: another entry of the client's would look like somebody else's."""

    def __init__(self, key: Key) -> None:
        self.key = key
        self.hold: Hold | None = None  # which they have in turn; used or not, as long as nobody wants it back
        self.asker: Hold | None = None
        self.waiting: dict[Use, None] = {}  # for what is held, and is given to them, in their order
        self.behind: dict[Use, None] = {}  # the one that asks

    @property
    def is_empty(self) -> bool:
        return not (self.hold or self.asker or self.waiting or self.behind)


class Hold(Acquisition):
    """What the servers know of it: one request, for whoever uses it. Several users at a time are levels of one owner."""

    def __init__(self, keeper: Keeper, first: Use, line: Line | None) -> None:
        request = replace(first.request, owner="", deadlock_check=False, notify_contention=True, keep_unused=None)
        super().__init__(first.request_id, request, lambda kind, value: None)
        self.give_up = first.give_up
        self.alike = first.alike
        self.excludes = first.excludes
        self.counts = first.counts
        self.line = line
        self.users = [first]
        self.wanted = False  # back
        self.wanted_by: dict[str, Any] = {}  # the events that said so, for who uses it next
        self.give_until = NEVER  # to those who wait in the client
        self.is_unused = False
        self.unused_until = NEVER
        self.was_used = False
        self.timer: asyncio.TimerHandle | None = None
        self.timer_at = NEVER
        self._keeper = keeper

    def until(self, lease_deadline: float) -> float:
        return min(lease_deadline, self.jeopardy_until)

    def on_granted(self, granted: acquisition_pb2.Granted) -> None:
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
        self._keeper._on_not_granted(self, error)

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
        self._lines: dict[Key | None, Line] = {}
        self._shared: dict[Alike, dict[Hold, None]] = {}  # of which there may be several: those that are unused
        self._owned: dict[tuple[str, str], dict[Hold, None]] = {}  # what an owner uses, by the owner and each lock's name

    def acquire(self, use: Use) -> None:
        """Grants what is kept, or lets the request wait for it here, or asks a server."""
        own = self._own(use)
        if own is not None:
            self._begin(own, use)
            return
        line = self._lines.get(use.key)
        hold = line.hold if use.excludes and line is not None else next(reversed(self._shared.get(use.alike, {})), None)
        if hold is not None and not hold.users and self._lease.is_valid(hold):
            self._take_unused(hold)
            self._begin(hold, use)
            return
        use.message()  # what cannot be sent fails here
        if self.refuses(use):
            return
        if line is None and use.key is not None:
            line = self._lines[use.key] = Line(use.key)
        if line is None or (line.hold is None and line.asker is None):
            self._ask(use, line)
        elif use.give_up > now():
            self._wait(line, use)
        elif use.excludes:
            self._time_out(use)
        else:
            self._ask(use, None)  # it may be granted at once all the same

    def release(self, use: Use) -> None:
        """Ends a use, or withdraws a request."""
        hold = use.hold
        if use.state is State.WAITING:
            if use in self.waiting:
                self._stop_waiting(use)
            elif hold is not None:
                self._withdraw(hold)
            use.fail(NotAcquiredError(f"{use.request}: withdrawn", "WITHDRAWN"))
        elif use.state is State.HELD and hold is not None:
            hold.users.remove(use)
            left = len(hold.users)
            result = (
                acquisition_pb2.ReleaseResponse(outcome=acquisition_pb2.RELEASE_OUTCOME_DECREMENTED, remaining_holds=left)
                if left
                else _RELEASED
            )
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
                acquisition.fail(self._would_deadlock(request, spec))
                return True
        return False

    @staticmethod
    def _would_deadlock(request: LockRequest, spec: LockSpec) -> NotAcquiredError:
        return NotAcquiredError(f'{request}: its owner holds "{spec.name}", and would wait for itself', "WOULD_DEADLOCK")

    def end(self, why: Callable[[LockRequest], LockkeeperError]) -> None:
        """The lease ends: nobody waits any more."""
        for use in list(self.waiting):
            self._stop_waiting(use)
            use.fail(why(use.request))

    # Those who use it, one after the other.

    def _own(self, use: Use) -> Hold | None:
        """What is granted to its owner once more. Of permits, and in custom modes, each request takes its own."""
        owner = use.request.owner
        for hold in list(self._owned.get((owner, use.request.specs[0].name), ())) if owner else ():
            if hold.alike == use.alike and not hold.counts:
                if self._lease.is_valid(hold):
                    return hold
                self._lease.lose(hold, "DEADLINE_PASSED")  # its timer is late
        return None

    def _begin(self, hold: Hold, use: Use) -> None:
        self._use(hold, use)
        owner, line = use.request.owner, hold.line
        if not owner or len(hold.users) > 1:
            return
        for spec in use.request.specs:
            self._owned.setdefault((owner, spec.name), {})[hold] = None
        if line is not None and (line.waiting or line.behind or line.asker):
            self._join(hold, line, owner)

    def _use(self, hold: Hold, use: Use) -> None:
        hold.users.append(use)
        use.begin(hold, len(hold.users))
        if not hold.was_used:
            hold.was_used = True  # who comes after this one has somebody of this client before him
            hold.grants = tuple(replace(grant, previous_end="RELEASED") for grant in hold.grants)
        for kind, value in hold.wanted_by.items():
            use.tell(kind, value)
        if hold.jeopardy_until != NEVER:
            use.tell("jeopardy", hold.jeopardy_until - now())

    def _join(self, hold: Hold, line: Line, owner: str) -> None:
        """Alike requests of the owner that has it now wait for nobody but itself: it is granted once more to each."""
        asking = line.asker.users if line.asker is not None else []
        for use in [use for use in (*line.waiting, *line.behind, *asking) if use.request.owner == owner]:
            if use in self.waiting:
                self._stop_waiting(use)
            elif use.hold is not None:
                self._withdraw(use.hold)
            if hold.counts:  # of permits, each takes its own
                use.fail(self._would_deadlock(use.request, next(spec for spec in use.request.specs if spec._excludes)))
            else:
                self._use(hold, use)

    def _disown(self, hold: Hold, owner: str) -> None:
        for spec in hold.request.specs if owner else ():
            owned = self._owned[owner, spec.name]
            del owned[hold]
            if not owned:
                del self._owned[owner, spec.name]

    def _pass_on(self, hold: Hold, last: LockRequest) -> None:
        """Its last user has released it: gives it to the next, keeps it, or gives it back."""
        self._disown(hold, last.owner)
        valid = self._lease.is_valid(hold)
        line = hold.line
        use = self._next(line.waiting) if line is not None and valid and now() < hold.give_until else None
        if use is not None:
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

    def _wait(self, line: Line, use: Use) -> None:
        places = [
            acquisition_pb2.QueuePosition(name=spec.name, ahead=1 + len(line.waiting) + len(line.behind)) for spec in use.request.specs
        ]
        use.line = line
        queue = line.behind if line.hold is None else line.waiting
        queue[use] = self.waiting[use] = None
        if use.give_up != NEVER:
            use.timer = self._loop.call_later(use.give_up - now(), self._time_out, use)
        use.tell("queued", acquisition_pb2.Queued(positions=places))

    def _time_out(self, use: Use) -> None:
        self._stop_waiting(use)
        use.fail(NotAcquiredError(f"{use.request}: not granted in time: in use in this client", "TIMED_OUT"))

    def _stop_waiting(self, use: Use) -> None:
        self.waiting.pop(use, None)
        if use.timer is not None:
            use.timer.cancel()
            use.timer = None
        line, use.line = use.line, None
        if line is not None:
            line.waiting.pop(use, None)
            line.behind.pop(use, None)
            self._drop_if_empty(line)

    def _next(self, queue: dict[Use, None]) -> Use | None:
        """Takes out the first whose time is not over: its timer may be late."""
        while queue:
            use = next(iter(queue))
            if use.give_up > now():
                self._stop_waiting(use)
                return use
            self._time_out(use)
        return None

    def _drop_if_empty(self, line: Line) -> None:
        if line.is_empty and self._lines.get(line.key) is line:
            del self._lines[line.key]

    # Those who ask a server.

    def _ask(self, use: Use, line: Line | None, since: float | None = None) -> None:
        hold = use.hold = Hold(self, use, line)
        if since is not None:
            hold.since = since
        if line is not None:
            self._lines[line.key] = line
            line.asker = hold
        self._lease.acquire(hold)

    def _ask_next(self, line: Line, unreached: float | None = None) -> None:
        """Nobody of the line asks any more; since when no server can be reached, if that is why."""
        use = self._next(line.behind) if line.asker is None else None
        if use is not None:
            self._ask(use, line, None if unreached is None else max(unreached, use.since))
        self._drop_if_empty(line)

    def _send_behind(self, line: Line | None) -> None:
        """They are not given any more what they waited for: they ask, before those who came later."""
        if line is not None:
            line.behind = {**line.waiting, **line.behind}
            line.waiting = {}
            self._ask_next(line)

    def _withdraw(self, hold: Hold) -> None:
        hold.users.clear()
        self._lease.release(hold)
        self._on_not_granted(hold)

    def _on_not_granted(self, hold: Hold, why: LockkeeperError | None = None) -> None:
        line = hold.line
        if line is not None and line.asker is hold:
            line.asker = None
            self._ask_next(line, hold.since if isinstance(why, ServerUnavailableError) else None)

    # What a server says of it, and the clock.

    def _on_granted(self, hold: Hold) -> None:
        line = hold.line
        if line is not None:
            line.asker = None
            if hold.excludes:
                line.hold = hold
            line.waiting.update(line.behind)
            line.behind.clear()
        self._begin(hold, hold.users.pop())
        if line is not None:
            self._drop_if_empty(line)

    def _want_back(self, hold: Hold) -> None:
        """Somebody else wants it, or it is not certain that it can be kept. That stays so."""
        if hold.wanted:
            return
        hold.wanted = True
        if not hold.users:
            self._give_back(hold)
            return
        self._outdate(hold)  # who comes later asks a server
        if hold.line is not None and hold.line.waiting:
            hold.give_until = now() + _FOR_THOSE_BEFORE
            self._set_timer(hold, hold.give_until)

    def _give_back(self, hold: Hold) -> None:
        self._forget(hold)
        self._lease.release(hold)
        self._send_behind(hold.line)

    def _on_lost(self, hold: Hold, reason: str) -> None:
        self._forget(hold)
        users, hold.users = hold.users, []
        for use in users:
            use.lose(reason)
            use.finish(None)
        self._send_behind(hold.line)

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
        line = hold.line
        if line is not None and line.hold is hold:
            line.hold = None
            self._drop_if_empty(line)

    def _set_timer(self, hold: Hold, at: float) -> None:
        if hold.timer is not None:
            hold.timer.cancel()
        hold.timer_at = at
        hold.timer = self._loop.call_later(max(0.0, at - now()), self._on_time, hold)

    def _on_time(self, hold: Hold) -> None:
        hold.timer = None
        if hold.wanted:
            self._send_behind(hold.line)
        elif not hold.users and now() >= hold.unused_until:
            self._give_back(hold)
        elif not hold.users:
            self._set_timer(hold, hold.unused_until)
