"""What tests of kept locks have in common."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from lockkeeper import AsyncClient, AsyncLock, Listener
from lockkeeper.testing import FakeServer
from lockkeeper.v1 import session_pb2

Run = Callable[[Awaitable[Any]], Any]
KEEP = 600.0  # longer than any test


class Heard(list[session_pb2.SessionRequest]):
    """What the server was asked."""

    def kinds(self) -> list[str]:
        """The kinds of all requests about locks, and forgets them."""
        kinds = [str(request.WhichOneof("request")) for request in self]
        self.clear()
        return [kind for kind in kinds if kind in ("acquire", "release")]

    async def until(self, kind: str) -> None:
        """Waits for a request of that kind."""
        await until(lambda: kind in [request.WhichOneof("request") for request in list(self)])


async def until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110 # nobody tells
        await asyncio.sleep(0.01)


def name(what: str) -> str:
    return f"python/kept/{what}/{uuid.uuid4().hex}"


async def queued(client: AsyncClient, locks: Any, **options: Any) -> asyncio.Task[AsyncLock]:
    """Asks for locks, and returns when the request waits, in the client or at the server."""
    waits = asyncio.Event()
    listener = replace(options.pop("listener", Listener()), on_queued=lambda _: waits.set())
    task = asyncio.ensure_future(client.acquire(locks, listener=listener, **options))
    await waits.wait()
    return task


async def expire_first_lease(fake: FakeServer) -> None:
    """Ends a lease that its client has given up already, when the client has opened the next one."""
    await until(lambda: len(fake._leases) == 2)
    await asyncio.to_thread(fake._do, lambda: fake._end_lease(next(iter(fake._leases.values())), "EXPIRED"))


async def keep(client: AsyncClient, *locks: Any, **options: Any) -> None:
    """Uses a lock once, so that it is kept unused."""
    async with client.lock(list(locks), keep_unused=KEEP, **options):
        pass


def left(client: AsyncClient) -> list[Any]:
    """What the client keeps, or knows of those who use it or wait for it."""
    lease = client._state.lease
    assert lease is not None
    keeper = lease.keeper
    return [part for part in (keeper._unused, keeper._lines, keeper._shared, keeper._owned, keeper.waiting) if part]
