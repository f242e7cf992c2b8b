"""Several shards: which one a request or a call goes to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import pytest
from keeping import KEEP, Heard, until
from sharding import Service, ShardServer, know

from lockkeeper import AsyncClient, Client, LockLostError, RequestRefusedError, _router
from lockkeeper.testing import FakeServer
from lockkeeper.v1 import shard_service_pb2 as shards_pb
from lockkeeper.watching import Gap, SnapshotEnd

Run = Callable[[Awaitable[Any]], Any]


# Which shard.


def test_where_nobody_is_split_nobody_asks_for_a_table(run: Run) -> None:
    async def body(server: ShardServer) -> None:
        async with AsyncClient(server.address) as client:
            async with client.lock("a/1"), client.lock(["a/2", "b/1"]):
                assert (await client.get_lock("b/1")).holders
            assert server.heard.kinds() == ["acquire", "acquire", "release", "release"]
            assert server.calls == ["GetLock"]
            assert client._state._ensembles == {}

    with ShardServer() as server:
        run(body(server))


def test_request_is_followed_to_its_shard_and_the_next_goes_there(service: Service, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(service.address) as client:
            async with client.lock("orders/1") as first:
                assert first.is_valid
            assert [len(server.acquires()) for server in (service.a, service.b)] == [1, 1]
            async with client.lock("orders/2"), client.lock("stock/1"):
                pass
            assert [len(server.acquires()) for server in (service.a, service.b)] == [1, 3]
            async with client.lock("here/1"):
                pass
            assert [len(server.acquires()) for server in (service.a, service.b)] == [2, 3]
            assert (service.a.calls, service.b.calls) == (["GetShards"], [])
            ids = [request.request_id for request in service.a.acquires() + service.b.acquires()]
            assert len(set(ids)) == len(ids)

    run(body())


def test_request_for_a_hashed_namespace_goes_to_the_heaviest_shard(service: Service, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(service.address) as client:
            await know(client)
            before = len(service.b.acquires())
            async with client.lock("payments/1"), client.lock("customers/1"):  # b weighs more for one, a for the other
                pass
            there = [request.locks[0].name for request in service.b.acquires()[before:]]
            assert there == ["payments/1"]

    run(body())


def test_there_is_one_lease_a_shard(service: Service, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(service.address) as client:
            locks = [await client.acquire(name) for name in ("here/1", "orders/1", "stock/1", "here/2", "orders/2")]
            assert (service.a.leases_opened, service.b.leases_opened) == (1, 1)
            assert all(lock.is_valid for lock in locks)
        assert not service.a._leases
        assert not service.b._leases

    run(body())


def test_client_of_threads_follows_too(service: Service) -> None:
    with Client(service.address) as client, client.lock("orders/1") as lock:
        assert lock.is_valid
        assert client.get_lock("orders/1").holders[0].fencing_token == lock.fencing_token


def test_one_table_request_does_for_all(service: Service, run: Run) -> None:
    async def body() -> None:
        service.a.is_silent = True
        async with AsyncClient(service.address) as client:
            waiting = [asyncio.ensure_future(client.acquire(f"orders/{i}")) for i in range(20)]
            await until(lambda: client._state._between == 20)
            assert client._state.size == 20
            service.a.is_silent = False
            await asyncio.gather(*waiting)
        assert service.tables_asked() == 1

    run(body())


def test_newer_table_is_taken_and_an_older_one_is_not(service: Service, run: Run, hasty: None) -> None:
    async def body() -> None:
        async with AsyncClient(service.address) as client:
            await know(client)
            service.change({"stock": "a"})
            async with client.lock("stock/1"):
                pass
            assert service.b.calls == ["GetShards"]
            assert client._state._table is not None
            assert client._state._table.version == 2
            service.a.serve_shard("a", service.table(version=1))  # it has missed the change
            waiting = asyncio.ensure_future(client.acquire("stock/2"))
            await until(lambda: len(service.a.acquires()) > 4)
            assert client._state._table.version == 2
            service.a.serve_shard("a", service.table({"stock": "a"}, version=2))
            await waiting

    run(body())


# Where a table cannot be had.


@pytest.mark.parametrize("reason", ["not there", "too large", "malformed"])
def test_without_a_table_the_word_of_the_server_counts_for_its_namespace(service: Service, run: Run, reason: str) -> None:
    too_large = [shards_pb.NamespaceMove(namespace=f"n{i}", to="b") for i in range(101)]
    malformed = shards_pb.Shard(id="No Id", addresses=["localhost:1"])
    answers: dict[str, shards_pb.GetShardsResponse | grpc.StatusCode] = {
        "not there": grpc.StatusCode.UNIMPLEMENTED,
        "too large": shards_pb.GetShardsResponse(self="a", table=shards_pb.ShardTable(version=9, moves=too_large)),
        "malformed": shards_pb.GetShardsResponse(self="a", table=shards_pb.ShardTable(version=9, shards=[malformed])),
    }
    service.a.says = answers[reason]

    async def body() -> None:
        async with AsyncClient(service.address) as client:
            for i in range(3):
                async with client.lock(f"orders/{i}"):
                    pass
            assert [len(server.acquires()) for server in (service.a, service.b)] == [1, 3]
            assert client._state._table is None
            async with client.lock("stock/1"), client.lock("here/1"):  # of which nothing was said
                pass
            assert [len(server.acquires()) for server in (service.a, service.b)] == [3, 4]

    run(body())


def test_silence_about_the_table_is_waited_for_no_longer_than_the_request_timeout(service: Service, run: Run) -> None:
    async def body() -> None:
        service.a.is_silent = True
        async with AsyncClient(service.address, request_timeout=3) as client, client.lock("orders/1"):
            assert [len(server.acquires()) for server in (service.a, service.b)] == [1, 1]

    run(body())


def test_silence_about_the_table_is_waited_for_little_longer_than_the_wait_limit(
    service: Service, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_router, "ANSWERING", 5.5)  # more than a lease waits for an answer

    async def body() -> None:
        service.a.is_silent = True
        async with AsyncClient(service.address, request_timeout=3600) as client:
            lock = await client.try_lock("orders/1", wait=0.1)
            assert lock is not None
            assert client._state._asking is not None

    run(body())


def test_shard_at_other_addresses_is_found_there(service: Service, run: Run) -> None:
    async def body(new: ShardServer) -> None:
        async with AsyncClient(service.address) as client:
            await client.get_lock("orders/1")
            await asyncio.to_thread(service.b.stop)
            service.b = new
            service.change({"here": "b"})
            async with client.lock("here/1") as lock:
                assert (await client.get_lock("here/1")).holders[0].fencing_token == lock.fencing_token
            assert (new.leases_opened, new.calls) == (1, ["GetLock"])

    with ShardServer() as new:
        run(body(new))


def test_namespace_that_the_table_leaves_out_is_where_its_server_says(service: Service, run: Run) -> None:
    """A table is told without the namespaces on which the client had no right when it asked."""
    told = service.table()
    del told.namespaces[:]
    service.a.says = service.b.says = shards_pb.GetShardsResponse(self="a", table=told)

    async def body() -> None:
        async with AsyncClient(service.address) as client:
            for name in ("orders/1", "stock/1", "stock/2", "here/1"):
                async with client.lock(name):
                    pass
            assert {request.locks[0].name for request in service.b.acquires()} >= {"orders/1", "stock/1", "stock/2"}

    run(body())


def test_refusal_that_says_nothing_is_told(service: Service, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    service.a.says = grpc.StatusCode.UNIMPLEMENTED
    copy = service.a._copy
    assert copy is not None
    monkeypatch.setattr(copy, "_shard", lambda namespace: shards_pb.Shard())

    async def body() -> None:
        async with AsyncClient(service.address) as client:
            with pytest.raises(RequestRefusedError, match="orders") as refused:
                await client.acquire("orders/1")
            assert refused.value.reason == "WRONG_SHARD"
            assert client._state.size == 0

    run(body())


def test_hints_and_shards_are_bounded(service: Service, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_router, "MOST_NAMESPACES", 3)
    monkeypatch.setattr(_router, "MOST_SHARDS", 3)

    async def body() -> None:
        async with AsyncClient(service.address) as client:
            for i in range(10):
                shard = shards_pb.Shard(id=f"s{i}", addresses=[service.b.address])
                client._state._take_hint(shards_pb.WrongShard(namespace=f"n{i}", shard=shard, table_version=1))
                client._state.ensemble_of([f"n{i}/1"])
            assert sorted(client._state._hints) == ["n7", "n8", "n9"]
            assert len(client._state._ensembles) <= 3

    run(body())


# Across shards.


def test_locks_of_two_shards_are_refused_by_the_client_that_knows(service: Service, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(service.address) as client:
            await know(client)
            asked = len(service.a.acquires() + service.b.acquires())
            with pytest.raises(RequestRefusedError, match='"here" and "orders"') as refused:
                await client.acquire(["here/1", "orders/1"])
            assert (refused.value.reason, refused.value.retry_after) == ("ACROSS_SHARDS", None)
            watch = client.watch("here/1", "orders/1")
            with pytest.raises(RequestRefusedError):
                await watch.__anext__()
            assert len(service.a.acquires() + service.b.acquires()) == asked
            async with client.lock(["orders/1", "stock/1"]):
                pass

    run(body())


def test_locks_of_two_shards_are_refused_by_the_server_else(service: Service, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(service.address) as client:
            with pytest.raises(RequestRefusedError) as refused:
                await client.acquire(["here/1", "orders/1"])
            assert refused.value.reason == "ACROSS_SHARDS"
            assert service.tables_asked() == 0

    run(body())


# What happens to one lease touches no lock of another.


@pytest.mark.parametrize("lost", ["a", "b"])
def test_lease_that_is_lost_leaves_the_locks_of_the_others(service: Service, run: Run, lost: str) -> None:
    async def body() -> None:
        async with AsyncClient(service.address) as client:
            locks = {"b": await client.acquire("orders/1"), "a": await client.acquire("here/1")}
            await asyncio.to_thread(service.servers[lost].expire_leases)
            assert await asyncio.wait_for(locks[lost].wait_lost(), 30)
            other = locks["a" if lost == "b" else "b"]
            assert other.is_valid
            other.check()
            with pytest.raises(LockLostError):
                locks[lost].check()
            async with client.lock("orders/2"), client.lock("here/2"):
                assert other.is_valid
            assert (service.a.leases_opened, service.b.leases_opened) == ((2, 1) if lost == "a" else (1, 2))

    run(body())


def test_owner_comes_back_to_what_it_holds_while_the_namespace_moves(service: Service, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(service.address) as client, client.lock("orders/1", owner="o") as first:
            service.change(moving={"orders": "a"})
            async with client.lock("orders/1", owner="o") as again:
                assert again.fencing_token == first.fencing_token

    run(body())


# Locks that are kept.


def test_lock_is_kept_at_another_shard(service: Service, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(service.address) as client, AsyncClient(service.address) as other:
            async with client.lock("orders/1", keep_unused=KEEP) as first:
                pass
            async with client.lock("orders/1", keep_unused=KEEP) as second:
                assert second.fencing_token == first.fencing_token
            async with client.lock("here/1", keep_unused=KEEP):
                pass
            assert [len(server.acquires()) for server in (service.a, service.b)] == [2, 1]
            assert len(client._settings.unused) == 2  # of the client as a whole
            async with other.lock("orders/1", wait=60) as theirs:
                assert theirs.fencing_token > first.fencing_token
                assert len(client._settings.unused) == 1

    run(body())


def test_those_who_wait_for_one_kept_lock_are_followed_together(service: Service, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(service.address) as client:

            async def use() -> int:
                async with client.lock("orders/1", keep_unused=KEEP) as lock:
                    return lock.fencing_token

            tokens = await asyncio.gather(*(use() for _ in range(10)))
            assert len(set(tokens)) == 1
            assert [len(server.acquires()) for server in (service.a, service.b)] == [1, 1]
            assert service.tables_asked() == 1

    run(body())


def test_most_that_is_kept_counts_for_the_client(service: Service, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lockkeeper._kept.MOST_UNUSED", 1)

    async def body() -> None:
        async with AsyncClient(service.address) as client:
            async with client.lock("orders/1", keep_unused=KEEP):
                pass
            async with client.lock("here/1", keep_unused=KEEP):
                pass
            await service.a.heard.until("release")
            assert len(client._settings.unused) == 1
            await asyncio.to_thread(service.b.expire_leases)
            await until(lambda: not client._settings.unused)

    run(body())


def test_most_requests_count_for_the_client(service: Service, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lockkeeper.aio._MAX_REQUESTS", 2)

    async def body() -> None:
        async with AsyncClient(service.address) as client, client.lock("orders/1"), client.lock("here/1"):
            with pytest.raises(Exception, match="at most 2"):
                await client.acquire("here/2")

    run(body())


# Reads.


def test_calls_follow_and_go_there_directly_afterwards(service: Service, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(service.address) as client, AsyncClient(service.address) as other, other.lock("orders/1") as lock:
            for _ in range(2):
                assert (await client.get_lock("orders/1")).holders[0].fencing_token == lock.fencing_token
            assert service.a.calls.count("GetLock") == 1
            assert service.b.calls.count("GetLock") == 2
            assert [info.name async for info in client.list_locks("orders/")] == ["orders/1"]
            for prefix in ("", "ord", "orders"):  # those of the first shard
                assert [info.name async for info in client.list_locks(prefix)] == []
            assert (service.a.calls.count("ListLocks"), service.b.calls.count("ListLocks")) == (3, 1)
            assert service.b.leases_opened == 1  # reading needs none

    run(body())


def test_list_of_a_namespace_follows(service: Service, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(service.address) as client, AsyncClient(service.address) as other, other.lock("orders/1"):
            assert [info.name async for info in client.list_locks("orders/")] == ["orders/1"]

    run(body())


def test_call_waits_for_a_namespace_that_moves(service: Service, run: Run) -> None:
    async def body() -> None:
        service.change(moving={"orders": "a"})
        async with AsyncClient(service.address) as client:
            asking = asyncio.ensure_future(client.get_lock("orders/1"))
            await until(lambda: service.a.calls.count("GetLock") > 1)
            service.change({"orders": "b"})
            assert (await asking).holders == ()

    run(body())


def test_watch_begins_anew_at_the_other_shard(service: Service, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(service.address) as client:
            watch = client.watch("here/1")
            assert isinstance(await watch.__anext__(), SnapshotEnd)
            service.change({"here": "b"})
            assert isinstance(await watch.__anext__(), Gap)
            assert isinstance(await watch.__anext__(), SnapshotEnd)
            assert (service.a.calls.count("Watch"), service.b.calls.count("Watch")) == (1, 1)
            await watch.aclose()

    run(body())


def test_first_watch_of_a_namespace_follows_without_a_gap(service: Service, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(service.address) as client:
            for watch in (client.watch("orders/1"), client.watch(prefix="orders/")):
                assert isinstance(await watch.__anext__(), SnapshotEnd)
                await watch.aclose()
            assert (service.a.calls.count("Watch"), service.b.calls.count("Watch")) == (1, 2)

    run(body())


def test_election_is_held_at_its_shard(service: Service, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(service.address) as client:

            async def task(_: Any) -> str:
                leader = await client.election("orders/leader").leader()
                return leader.value if leader is not None else ""

            assert await client.election("orders/leader").run("me", task) == "me"

    run(body())


def test_server_without_shards_serves_all(fake: FakeServer, heard: Heard) -> None:
    with Client(fake.address) as client, client.lock(["orders/1", "here/1"]):
        assert heard.kinds() == ["acquire"]
