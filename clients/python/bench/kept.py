"""Cycles a second of lock and unlock on a kept lock, and on one that is not kept: kept.py [HOST:PORT], else with a server in memory."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import Awaitable, Callable

from lockkeeper import AsyncClient, Client, LockRequest
from lockkeeper.testing import FakeServer

SECONDS = 3.0


async def tasks(what: str, cycle: Callable[[], Awaitable[None]]) -> None:
    cycles, began = 0, time.perf_counter()
    while time.perf_counter() - began < SECONDS:
        await cycle()
        cycles += 1
    print(f"{cycles / (time.perf_counter() - began):10,.0f} a second: {what}")


async def of_tasks(address: str) -> None:
    request = LockRequest("bench/kept", keep_unused=60)
    async with AsyncClient(address) as client:

        async def kept() -> None:
            async with client.lock(request):
                pass

        async def named() -> None:
            async with client.lock("bench/kept", keep_unused=60):
                pass

        async def not_kept() -> None:
            async with client.lock("bench/not-kept"):
                pass

        await tasks("kept, asyncio, with a LockRequest that is made once", kept)
        await tasks("kept, asyncio, by its name", named)
        await tasks("not kept, asyncio", not_kept)


def of_threads(address: str) -> None:
    with Client(address) as client:
        for what, request in {"kept": LockRequest("bench/kept", keep_unused=60), "not kept": LockRequest("bench/not-kept")}.items():
            cycles, began = 0, time.perf_counter()
            while time.perf_counter() - began < SECONDS:
                with client.lock(request):
                    cycles += 1
            print(f"{cycles / (time.perf_counter() - began):10,.0f} a second: {what}, one thread")


with contextlib.ExitStack() as stack:
    place = sys.argv[1] if sys.argv[1:] else stack.enter_context(FakeServer()).address
    asyncio.run(of_tasks(place))
    of_threads(place)
