"""Elects one leader among candidates: the holder of an exclusive lock leads."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from lockkeeper._clock import longest_pause, now
from lockkeeper.errors import LeaseLostError, LockLostError, NotAcquiredError, RequestRefusedError, ServerUnavailableError
from lockkeeper.events import Contender
from lockkeeper.requests import LockRequest, lock_name

if TYPE_CHECKING:
    from lockkeeper.aio import AsyncClient, AsyncLock

LOG = logging.getLogger("lockkeeper")
VALUE = "leader"
_SHORT_TERM = 5.0  # after terms of fewer seconds there is a pause, which grows
T = TypeVar("T")


@dataclass(frozen=True)
class Leader:
    """Who leads: what it said of itself, and its fencing token."""

    value: str
    fencing_token: int
    holder: str


def leader_of(holders: tuple[Contender, ...]) -> Leader | None:
    """Who of the holders leads."""
    for holder in holders:
        if holder.fencing_token > 0:
            return Leader(holder.metadata.get(VALUE, ""), holder.fencing_token, holder.holder)
    return None


class Terms:
    """One candidate's terms, one after the other, with the pauses between them."""

    def __init__(self, client: AsyncClient, request: LockRequest) -> None:
        self._client = client
        self._request = request
        self._failures = 0
        self._began = now()

    async def elected(self) -> AsyncLock:
        """Waits until the candidate leads; goes back to the queue as long as that may help. Errors are those of `AsyncElection.run`."""
        while True:
            pause = 0.0
            try:
                leadership = await self._client.acquire(self._request)
                self._began = now()
                return leadership
            except (LeaseLostError, ServerUnavailableError) as error:
                LOG.warning("no leader of %s can be elected now: %s", self._request, error)
            except NotAcquiredError as error:
                if error.reason != "REMOVED":
                    raise
            except RequestRefusedError as error:
                if error.retry_after is None:
                    raise
                pause = error.retry_after
            await self._pause(pause)

    async def lost(self, leadership: AsyncLock) -> None:
        """Pauses after a leadership that was lost, the longer the more terms in a row were short."""
        LOG.info("the leadership of %s is lost: %s", self._request, leadership.lost_reason)
        if now() - self._began >= _SHORT_TERM:
            self._failures = 0
        await self._pause(0.0)

    async def _pause(self, least: float) -> None:
        self._failures += 1
        await asyncio.sleep(max(least, longest_pause(self._failures)) * random.uniform(1.0, 1.5))


class AsyncElection:
    """An election: candidates lead in the order in which they came. Made by `AsyncClient.election`."""

    def __init__(self, client: AsyncClient, name: str) -> None:
        self._client = client
        self._name = lock_name(name)

    def _request(self, value: str) -> LockRequest:
        if len(value.encode()) > 4000:
            raise ValueError("value must be 4000 bytes at most")
        return LockRequest(self._name, metadata={VALUE: value}, deadlock_check=False)

    async def campaign(self, value: str) -> AsyncLock:
        """Waits until this candidate is elected; ends the term by releasing the lock. Errors are those of `AsyncClient.acquire`."""
        return await self._client.acquire(self._request(value))

    async def run(self, value: str, task: Callable[[AsyncLock], Awaitable[T]]) -> T:
        """Leads whenever this candidate is elected, until the task is done, and returns what it returns.

        When the leadership is lost, the task is cancelled, and the candidate goes back to the queue. While no server can be reached, it
        tries again after a growing pause. Cancelling this withdraws or resigns.

        Raises:
            NotAcquiredError: the queue is full.
            RequestRefusedError: a server refuses the candidate for good.
            ClosedError: the client is closed.
        """
        terms = self.terms(value)
        while True:
            leadership = await terms.elected()
            try:
                async with self._client._guarded(leadership):
                    return await task(leadership)
            except LockLostError:
                if leadership.lost_reason is None:
                    raise  # another lock of the task's
                await terms.lost(leadership)

    def terms(self, value: str) -> Terms:
        """The terms of one candidate, for those who do more between them than `run` does."""
        return Terms(self._client, self._request(value))

    async def leader(self) -> Leader | None:
        """Who leads now, as a server sees it; None: nobody."""
        return leader_of((await self._client.get_lock(self._name, queue_limit=0)).holders)

    async def observe(self) -> AsyncGenerator[Leader | None, None]:
        """Who leads, first as it is and then whenever that changes."""
        from lockkeeper.watching import Change, Snapshot, SnapshotEnd

        known: Leader | None = None
        seen: Leader | None = None
        told = False
        async with contextlib.aclosing(self._client.watch(self._name)) as events:
            async for event in events:
                if isinstance(event, Snapshot):
                    seen = leader_of(event.lock.holders)
                elif isinstance(event, Change):
                    seen = leader_of(event.holders)
                elif not isinstance(event, SnapshotEnd):
                    seen = None  # a gap: a snapshot follows
                    continue
                if isinstance(event, Snapshot):
                    continue
                if not told or seen != known:
                    known, told = seen, True
                    yield known
