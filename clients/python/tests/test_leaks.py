"""What is left when a client is closed, forgotten, or its process ends."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from servers import RealServer

from lockkeeper import AsyncClient, Client, ClosedError, NotAcquiredError, _lease
from lockkeeper.testing import FakeServer

Run = Callable[[Awaitable[Any]], Any]


def threads() -> set[str]:
    return {thread.name for thread in threading.enumerate() if thread.name.startswith("lockkeeper") and thread.name != "lockkeeper-fake"}


def test_no_thread_is_left_after_close(fake: FakeServer) -> None:
    for _ in range(5):
        with Client(fake.address) as client, client.lock("a"):
            assert threads()
    assert threads() == set()


def test_close_ends_in_time_where_no_server_answers(fake: FakeServer, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_lease, "_CLOSING", 0.2)

    async def body() -> None:
        client = AsyncClient(fake.address)
        await client.acquire("a")
        await asyncio.to_thread(fake.freeze)
        await client.close()

    run(body())


def test_closing_while_it_connects_leaves_nothing(fake: FakeServer, run: Run) -> None:
    async def body() -> None:
        await asyncio.to_thread(fake.stop)
        client = AsyncClient(fake.address)
        waiting = asyncio.ensure_future(client.acquire("a"))
        await asyncio.sleep(0)
        await client.close()
        with pytest.raises(ClosedError):
            await waiting

    run(body())


def test_close_ends_what_other_threads_wait_for(real: RealServer) -> None:
    ended: list[object] = []
    client = Client(real.address)

    def start(wait: Callable[[], object]) -> threading.Thread:
        def body() -> None:
            try:
                ended.append(wait())
            except ClosedError as error:
                ended.append(type(error))

        thread = threading.Thread(target=body)
        thread.start()
        return thread

    with Client(real.address) as holder, holder.lock("python/close/a"):
        held = client.lock("python/close/b")
        watch = client.watch("python/close/a")
        next(watch)
        next(watch)
        waits = [start(lambda: client.lock("python/close/a")), start(lambda: list(watch)), start(held.wait_lost)]
        while not holder.get_lock("python/close/a").queue:
            pass
        client.close()
        for thread in waits:
            thread.join(60)
    assert sorted(ended, key=str) == [ClosedError, ClosedError, "LEASE_CLOSED"]


def test_close_ends_a_watch(real: RealServer, run: Run) -> None:
    async def body() -> None:
        client = AsyncClient(real.address)
        events = client.watch("python/close/c")
        await events.__anext__()
        pending = asyncio.ensure_future(events.__anext__())
        await asyncio.sleep(0)
        await client.close()
        with pytest.raises(ClosedError):
            await pending

    run(body())


def test_forgotten_client_gives_its_locks_back(fake: FakeServer) -> None:
    client: Any = Client(fake.address, ttl=60)
    lock: Any = client.lock("a")
    assert lock.is_valid
    with Client(fake.address) as other:
        del client
        gc.collect()
        with pytest.raises(NotAcquiredError):
            other.lock("a", wait=0.2)  # a lock that somebody has keeps its client
        del lock
        gc.collect()
        other.lock("a", wait=60).release()


def test_forgotten_client_for_asyncio_gives_its_locks_back(fake: FakeServer, run: Run) -> None:
    async def body() -> None:
        client: AsyncClient | None = AsyncClient(fake.address, ttl=60)
        assert client is not None
        lock: Any = await client.acquire("a")
        assert lock.is_valid
        client = lock = None
        gc.collect()
        async with AsyncClient(fake.address) as other, other.lock("a", wait=60):
            pass

    run(body())


@pytest.mark.parametrize("end", ["pass", "raise SystemExit(0)", "import os; os._exit(0)"])
def test_program_that_ends_without_closing_ends_and_leaves_no_lock(fake: FakeServer, end: str) -> None:
    code = f"from lockkeeper import Client; c = Client('{fake.address}', ttl=2); lock = c.lock('a'); {end}"
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0
    with Client(fake.address) as other:
        other.lock("a", wait=60).release()


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="no fork here")
def test_child_that_was_forked_is_refused(fake: FakeServer) -> None:
    code = f"""
import os, sys
from lockkeeper import Client, ClosedError
client = Client('{fake.address}')
client.lock('a')
if os.fork() == 0:
    try:
        client.lock('b')
    except ClosedError:
        os._exit(7)
    os._exit(8)
sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    with warnings.catch_warnings():
        environment = {**os.environ, "GRPC_ENABLE_FORK_SUPPORT": "0"}  # gRPC's own handlers crash one child in ten
        command = [sys.executable, "-W", "ignore", "-c", code]
        assert subprocess.run(command, env=environment, timeout=60, check=False).returncode == 7
