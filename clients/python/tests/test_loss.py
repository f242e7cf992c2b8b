"""Locks that are lost, and servers that go away: on the server in memory, where a test says when."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from keeping import expire_first_lease

from lockkeeper import (
    AsyncClient,
    Client,
    ClosedError,
    Contended,
    Listener,
    LockLostError,
    ReleaseRequested,
    ServerUnavailableError,
)
from lockkeeper.testing import FakeServer

Run = Callable[[Awaitable[Any]], Any]


def test_body_is_cancelled_when_its_lock_is_lost(fake: FakeServer, run: Run) -> None:
    async def body() -> None:
        cancelled = False
        async with AsyncClient(fake.address) as client:
            with pytest.raises(LockLostError) as caught:
                async with client.lock("orders/42"):
                    try:
                        await asyncio.to_thread(fake.lose, "orders/42")
                        await asyncio.Event().wait()
                    except asyncio.CancelledError:
                        cancelled = True
                        raise
            assert cancelled
            assert caught.value.reason == "FORCED"
            await asyncio.sleep(0)  # the task itself is not cancelled any more

    run(body())


def test_error_of_the_body_goes_before_the_loss(fake: FakeServer, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(fake.address) as client:
            with pytest.raises(KeyError):
                async with client.lock("orders/42", cancel_on_loss=False) as lock:
                    await asyncio.to_thread(fake.lose, "orders/42")
                    await lock.wait_lost()
                    raise KeyError

    run(body())


def test_cancellation_by_others_is_no_loss(fake: FakeServer, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(fake.address) as client:
            inside = asyncio.Event()

            async def work() -> None:
                async with client.lock("orders/42"):
                    inside.set()
                    await asyncio.Event().wait()

            task = asyncio.ensure_future(work())
            await inside.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            async with client.lock("orders/42"):
                pass

    run(body())


def test_holder_is_asked_to_give_way_and_told_of_jeopardy(fake: FakeServer, run: Run) -> None:
    async def body() -> None:
        told: asyncio.Queue[Any] = asyncio.Queue()
        listener = Listener(on_release_requested=told.put_nowait, on_jeopardy=told.put_nowait, on_safe=lambda: told.put_nowait("safe"))
        async with AsyncClient(fake.address, ttl=3600) as client, client.lock("a", listener=listener) as lock:
            await asyncio.to_thread(fake.request_release, "a", "maintenance", "anna")
            assert await told.get() == ReleaseRequested("a", "anna", "maintenance", None)
            await lock.answer_release(3)
            await asyncio.to_thread(fake.jeopardize, 60.0)
            assert await told.get() == 60.0
            assert 0 < lock.remaining <= 60
            await asyncio.to_thread(fake.make_safe)
            assert await told.get() == "safe"
            assert lock.remaining > 60

    run(body())


def test_contention_is_told_once_though_each_resume_says_it_again(fake: FakeServer, run: Run) -> None:
    async def body() -> None:
        told: list[Contended] = []
        async with AsyncClient(fake.address) as client, AsyncClient(fake.address) as other:
            listener = Listener(on_contended=told.append)
            async with client.lock("a", notify_contention=True, listener=listener), client.lock("unasked", listener=listener):
                assert await other.try_lock("a", wait=0.05) is None
                for number in range(2):
                    await asyncio.to_thread(fake.disconnect)
                    async with client.lock(f"b{number}"):  # over the next stream
                        assert await other.try_lock(["a", "unasked"], wait=0.05) is None
            assert told == [Contended("a", 1, None)]

    run(body())


def test_no_server_is_no_lock_that_somebody_else_holds(run: Run) -> None:
    async def body() -> None:
        async with AsyncClient("127.0.0.1:1", request_timeout=1) as client:
            with pytest.raises(ServerUnavailableError):
                await client.get_lock("a")
            for wait in (0, 30):
                with pytest.raises(ServerUnavailableError, match=r"127\.0\.0\.1:1: .*refused"):
                    await client.try_lock("a", wait=wait)

    run(body())


def test_what_is_no_listener_is_refused_before_anything_is_sent(fake: FakeServer, run: Run) -> None:
    async def body() -> None:
        wrong: Any = print
        async with AsyncClient(fake.address) as client:
            with pytest.raises(TypeError, match="listener must be a Listener"):
                await client.acquire("a", listener=wrong)
            assert client.lease_tag == ""

    run(body())


def test_lock_that_was_released_guards_nothing_more(fake: FakeServer, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(fake.address) as client:
            lock = await client.acquire("a")
            await lock.release()
            with pytest.raises(ClosedError):
                async with lock:
                    pytest.fail("unguarded")

    run(body())
    with Client(fake.address) as blocking:
        held = blocking.lock("a")
        held.release()
        with pytest.raises(ClosedError), held:
            pytest.fail("unguarded")


def test_leader_that_loses_its_lock_goes_back_to_the_queue(fake: FakeServer, run: Run) -> None:
    async def body() -> None:
        terms: list[int] = []
        async with AsyncClient(fake.address) as client:
            election = client.election("reports/leader")

            async def lead(leadership: Any) -> str:
                terms.append(leadership.fencing_token)
                leader = await election.leader()
                assert leader is not None
                assert leader.value == "me"
                if len(terms) == 1:
                    await asyncio.to_thread(fake.lose, "reports/leader")
                    await asyncio.Event().wait()
                return "done"

            assert await election.run("me", lead) == "done"
        assert terms == sorted(set(terms))
        assert len(terms) == 2

    run(body())


def test_listener_that_raises_harms_nothing(fake: FakeServer, run: Run) -> None:
    async def body() -> None:
        def fail(*_: Any) -> None:
            raise RuntimeError("a bad listener")

        async with AsyncClient(fake.address) as client:
            held = await client.acquire("a", listener=Listener(fail, fail, fail, fail, fail, fail))
            await asyncio.to_thread(fake.lose, "a")
            assert await held.wait_lost() == "FORCED"

    run(body())


def test_blocking_client_tells_of_a_loss_at_the_end_of_the_body(fake: FakeServer) -> None:
    with Client(fake.address) as client:
        with pytest.raises(LockLostError), client.lock("orders/42") as lock:
            fake.lose("orders/42")
            assert lock.wait_lost(60) == "FORCED"
            assert not lock.is_valid
            with pytest.raises(LockLostError):
                lock.check()
        assert client.try_lock("orders/42") is not None


def test_blocking_leader_comes_back(fake: FakeServer) -> None:
    terms = 0

    def lead(leadership: Any) -> int:
        nonlocal terms
        terms += 1
        if terms == 1:
            fake.lose("leader")
            leadership.wait_lost(60)
        return terms

    with Client(fake.address) as client:
        assert client.lead("leader", "me", lead) == 2


def test_blocking_client_may_be_used_by_many_threads(fake: FakeServer) -> None:
    inside, most = 0, 0
    with Client(fake.address) as client:

        def work() -> None:
            nonlocal inside, most
            for _ in range(5):
                with client.lock("many"):
                    inside += 1
                    most = max(most, inside)
                    inside -= 1

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert most == 1


def test_levels_above_a_limited_hold_end_with_it(fake: FakeServer, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(fake.address) as client:
            outer = await client.acquire("a", owner="o", max_hold=2)
            inner = await client.acquire("a", owner="o")
            assert inner.remaining <= 2
            await asyncio.to_thread(fake.freeze)
            assert await outer.wait_lost() == await inner.wait_lost() == "MAX_HOLD"
            await asyncio.to_thread(fake.thaw)

    run(body())


def test_loss_that_only_the_clock_knows_is_told_at_the_release(fake: FakeServer, run: Run, later: Callable[[float], None]) -> None:
    async def body() -> None:
        lost: list[str] = []
        async with AsyncClient(fake.address, ttl=3600) as client:
            lock = await client.acquire("a", max_hold=60, listener=Listener(on_lost=lost.append))
            later(61)
            assert not lock.is_valid
            assert (await lock.release()).outcome == "LOST"
            assert lost == [lock.lost_reason] == ["MAX_HOLD"]

    run(body())


def test_candidate_whose_loop_stood_still_goes_back_to_the_queue(fake: FakeServer, run: Run, later: Callable[[float], None]) -> None:
    async def body() -> None:
        terms: list[int] = []

        async def lead(leadership: Any) -> int:
            terms.append(leadership.fencing_token)
            if len(terms) == 1:
                later(61)  # the lease lives a minute
            return len(terms)

        async with AsyncClient(fake.address, ttl=60) as client:
            led = asyncio.ensure_future(client.election("a").run("me", lead))
            await expire_first_lease(fake)
            assert await led == 2

    run(body())
