"""Several shards: how long a request is on its way to the right one, while the table changes, and when it ends there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import pytest
from keeping import KEEP, queued, until
from sharding import Service, know

from lockkeeper import AsyncClient, ClosedError, NotAcquiredError

Run = Callable[[Awaitable[Any]], Any]


# How long.


def test_wait_limit_counts_over_all_shards(service: Service, run: Run) -> None:
    async def body() -> None:
        service.a.is_silent = True
        async with AsyncClient(service.address) as client:
            waiting = asyncio.ensure_future(client.acquire("orders/1", wait=300))
            await until(lambda: bool(service.a.calls))
            service.a.is_silent = False
            async with await waiting:
                first, second = service.a.acquires()[0], service.b.acquires()[0]
                assert second.wait_timeout.ToNanoseconds() < first.wait_timeout.ToNanoseconds() <= 300 * 10**9
                assert second.request_id != first.request_id

    run(body())


def test_wait_ends_at_the_other_shard(service: Service, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(service.address) as client, AsyncClient(service.address) as other, other.lock("orders/1"):
            with pytest.raises(NotAcquiredError) as ended:
                await client.acquire("orders/1", wait=0.3)
            assert ended.value.reason == "TIMED_OUT"
            assert client._state.size == 0

    run(body())


def test_try_follows_and_does_not_wait(service: Service, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(service.address) as client, AsyncClient(service.address) as other:
            lock = await client.try_lock("orders/1")
            assert lock is not None
            assert await other.try_lock("orders/1") is None
            assert [request.wait_timeout.ToNanoseconds() for request in service.b.acquires()] == [0, 0]
            await lock.release()

    run(body())


@pytest.mark.parametrize("has_table", [True, False])
def test_try_follows_twice_and_no_further(service: Service, run: Run, has_table: bool) -> None:
    async def body() -> None:
        # Each of the two says that it is the other.
        service.a.serve_shard("a", service.table({"ping": "b"}, version=2))
        service.b.serve_shard("b", service.table({"ping": "a"}, version=3 if has_table else 2))
        if not has_table:
            service.a.says = service.b.says = grpc.StatusCode.UNIMPLEMENTED
        async with AsyncClient(service.address) as client:
            assert await client.try_lock("ping/1") is None
            asked = service.a.acquires() + service.b.acquires()
            assert len(asked) == 3
            assert client._state.size == 0

    run(body())


def test_try_ends_where_the_namespace_moves(service: Service, run: Run) -> None:
    async def body() -> None:
        service.change(moving={"orders": "a"})
        async with AsyncClient(service.address) as client:
            assert await client.try_lock("orders/1") is None
            with pytest.raises(NotAcquiredError) as ended:
                await client.acquire("orders/1", wait=0)
            assert ended.value.reason == "TIMED_OUT"

    run(body())


# While the table changes.


def test_moving_namespace_is_asked_for_again(service: Service, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(service.address) as client:
            await know(client)
            service.change(moving={"orders": "a"})
            waiting = asyncio.ensure_future(client.acquire("orders/1"))
            await until(lambda: len([r for r in service.b.acquires() if r.locks[0].name == "orders/1"]) > 2)
            service.change({"orders": "a"})
            async with await waiting as lock:
                assert (await client.get_lock("orders/1")).holders[0].fencing_token == lock.fencing_token
            assert service.a.acquires()[-1].locks[0].name == "orders/1"

    run(body())


def test_wait_limit_counts_while_the_namespace_moves(service: Service, run: Run) -> None:
    async def body() -> None:
        service.change(moving={"orders": "a"})
        async with AsyncClient(service.address) as client:
            with pytest.raises(NotAcquiredError) as ended:
                await client.acquire("orders/1", wait=0.4)
            assert ended.value.reason == "TIMED_OUT"
            assert client._state.size == 0

    run(body())


def test_who_waits_in_a_namespace_that_moves_asks_again(service: Service, run: Run, patient: None) -> None:
    async def body() -> None:
        async with AsyncClient(service.address) as client, AsyncClient(service.address) as other:
            held = await other.acquire("orders/1")
            waiting = await queued(client, "orders/1", wait=300)
            before = service.b.acquires()[-1]
            service.change(moving={"orders": "a"})
            await until(lambda: service.b.acquires()[-1].request_id != before.request_id)
            again = service.b.acquires()[-1]
            assert again.wait_timeout.ToNanoseconds() < before.wait_timeout.ToNanoseconds()
            assert held.is_valid
            assert (await held.release()).outcome == "RELEASED"
            service.change({"orders": "a"})
            async with await waiting:
                assert service.a.acquires()[-1].locks[0].name == "orders/1"

    run(body())


def test_who_waits_goes_along_with_each_move_at_once(service: Service, run: Run, patient: None) -> None:
    async def body() -> None:
        async with AsyncClient(service.address) as client, AsyncClient(service.address) as first, AsyncClient(service.address) as second:
            service.change({"orders": "a"})
            async with first.lock("orders/1"):
                service.change()
                async with second.lock("orders/1"):
                    waiting = await queued(client, "orders/1")
                    for server, namespaces in [(service.a, {"orders": "a"}), (service.b, {}), (service.a, {"orders": "a"})]:
                        asked = len(server.acquires())
                        service.change(namespaces)
                        await until(lambda server=server, asked=asked: len(server.acquires()) > asked)  # type: ignore[misc]
            async with await waiting as lock:
                assert lock.is_valid

    run(body())


def test_shard_that_refuses_what_the_table_gives_it_is_left_alone_for_a_while(service: Service, run: Run, patient: None) -> None:
    async def body() -> None:
        async with AsyncClient(service.address) as client:
            await know(client)
            service.change({"here": "b"})
            async with client.lock("here/1"):
                pass
            service.b.serve_shard("b", service.table(version=1))  # which it was before
            asked = len(service.a.acquires() + service.b.acquires())
            waiting = asyncio.ensure_future(client.acquire("here/2"))
            await until(lambda: len(service.a.acquires() + service.b.acquires()) > asked)
            await until(lambda: client._state._between == 1 and client._state._asking is None)
            assert await client.try_lock("here/3") is None
            with pytest.raises(NotAcquiredError):
                await client.acquire("here/3", wait=100)
            assert len(service.a.acquires() + service.b.acquires()) == asked + 3
            waiting.cancel()
            await asyncio.wait([waiting])
            assert client._state.size == 0

    run(body())


def test_shard_that_has_the_table_late_is_asked_again(service: Service, run: Run, hasty: None) -> None:
    async def body() -> None:
        service.a.serve_shard("a", service.table({"here": "b"}, version=2))
        async with AsyncClient(service.address) as client:
            waiting = asyncio.ensure_future(client.acquire("here/1"))
            await until(lambda: len(service.b.acquires()) > 2)
            assert not waiting.done()
            service.b.serve_shard("b", service.table({"here": "b"}, version=2))
            await waiting

    run(body())


# Ends while it is between two shards.


@pytest.mark.parametrize("keep_unused", [None, KEEP])
def test_request_that_is_cancelled_between_two_shards_leaves_nothing(service: Service, run: Run, keep_unused: float | None) -> None:
    async def body() -> None:
        service.a.is_silent = True
        async with AsyncClient(service.address) as client:
            waiting = asyncio.ensure_future(client.acquire("orders/1", keep_unused=keep_unused))
            other = asyncio.ensure_future(client.acquire("orders/2"))
            await until(lambda: bool(service.a.calls) and client._state._between == 2)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert client._state.size == 1
            service.a.is_silent = False
            await other  # whose table request was not cancelled with it
            assert [request.locks[0].name for request in service.b.acquires()] == ["orders/2"]

    run(body())


def test_request_that_is_cancelled_at_the_other_shard_is_withdrawn_there(service: Service, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(service.address) as client, AsyncClient(service.address) as other, other.lock("orders/1"):
            waiting = await queued(client, "orders/1")
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            await service.b.heard.until("release")
            await until(lambda: client._state.size == 0)

    run(body())


def test_client_that_is_closed_ends_what_is_between_two_shards(service: Service, run: Run) -> None:
    async def body() -> None:
        service.a.is_silent = True
        client = AsyncClient(service.address)
        waiting = [asyncio.ensure_future(wait) for wait in (client.acquire("orders/1"), client.get_lock("orders/1"))]
        await until(lambda: client._state._between == 2)
        await client.close()
        for each in waiting:
            with pytest.raises(ClosedError):
                await each
        assert client._state.size == 0
        with pytest.raises(ClosedError):
            await client.acquire("orders/1")

    run(body())


def test_client_that_is_closed_ends_what_pauses(service: Service, run: Run, patient: None) -> None:
    async def body() -> None:
        service.a.serve_shard("a", service.table({"here": "b"}, version=2))
        client = AsyncClient(service.address)
        waiting = asyncio.ensure_future(client.acquire("here/1"))
        await until(lambda: bool(service.b.acquires()) and client._state._between == 1)
        await client.close()
        with pytest.raises(ClosedError):
            await waiting
        assert client._state.size == 0

    run(body())


def test_closing_ends_the_leases_of_all_shards(service: Service, run: Run) -> None:
    async def body() -> None:
        client = AsyncClient(service.address, ttl=600)
        locks = [await client.acquire(name) for name in ("here/1", "orders/1")]
        await client.close()
        assert [lock.lost_reason for lock in locks] == ["LEASE_CLOSED", "LEASE_CLOSED"]
        async with AsyncClient(service.address) as other, other.lock("here/1"), other.lock("orders/1"):
            pass

    run(body())
