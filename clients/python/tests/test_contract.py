"""What locks do, on the server in memory and on a real one."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
import servers

from lockkeeper import (
    AsyncClient,
    Change,
    ClosedError,
    Contended,
    Listener,
    NotAcquiredError,
    RequestRefusedError,
    Snapshot,
    SnapshotEnd,
    exclusive,
    permits,
    read,
    write,
)

Run = Callable[[Awaitable[Any]], Any]


def name(what: str) -> str:
    return f"python/{what}/{uuid.uuid4().hex}"


async def queued(client: AsyncClient, *locks: Any, **options: Any) -> asyncio.Task[Any]:
    """Asks for locks, and returns when the request waits in the queue."""
    waits = asyncio.Event()
    listener = replace(options.pop("listener", Listener()), on_queued=lambda _: waits.set())
    task = asyncio.ensure_future(client.acquire(list(locks), listener=listener, **options))
    await waits.wait()
    return task


def test_next_in_the_queue_is_granted_with_a_higher_token_when_the_holder_releases(address: str, run: Run) -> None:
    async def body() -> None:
        lock = name("queue")
        async with AsyncClient(address) as one, AsyncClient(address) as other:
            async with one.lock(lock) as held:
                waiting = await queued(other, lock)
                assert held.is_valid
                assert held.remaining > 0
                assert not waiting.done()
            next_one = await waiting
            assert next_one.fencing_token > held.fencing_token
            assert not held.is_valid
            assert (await next_one.release()).outcome == "RELEASED"

    run(body())


def test_try_returns_none_where_somebody_holds_and_a_timed_wait_ends(address: str, run: Run) -> None:
    async def body() -> None:
        lock = name("try")
        async with AsyncClient(address) as one, AsyncClient(address) as other, one.lock(lock):
            assert await other.try_lock(lock) is None
            assert await other.try_lock(lock, wait=0.05) is None
            with pytest.raises(NotAcquiredError) as caught:
                await other.acquire(lock, wait=0.05)
            assert caught.value.reason == "TIMED_OUT"
            assert lock in str(caught.value)

    run(body())


def test_readers_share_and_exclude_writers(address: str, run: Run) -> None:
    async def body() -> None:
        lock = name("shared")
        async with AsyncClient(address) as client:
            first = await client.acquire(read(lock))
            second = await client.acquire(read(lock))
            writer = await queued(client, write(lock))
            await first.release()
            assert not writer.done()
            await second.release()
            await (await writer).release()

    run(body())


def test_permits_are_granted_up_to_the_limit(address: str, run: Run) -> None:
    async def body() -> None:
        lock = name("permits")
        async with AsyncClient(address) as client:
            two = await client.acquire(permits(lock, 2, 3))
            one = await client.acquire(permits(lock, 1, 3))
            assert await client.try_lock(permits(lock, 1, 3)) is None
            await two.release()
            async with client.lock(permits(lock, 1, 3)):
                pass
            await one.release()

    run(body())


def test_several_locks_are_granted_together_or_not_at_all(address: str, run: Run) -> None:
    async def body() -> None:
        first, second = name("several"), name("several")
        async with AsyncClient(address) as client, AsyncClient(address) as other:
            blocking = await other.acquire(second)
            waiting = await queued(client, first, exclusive(second))
            await blocking.release()
            both = await waiting
            assert [grant.name for grant in both.grants] == [first, second]
            assert await other.try_lock(first) is None
            await both.release()

    run(body())


def test_owner_is_granted_its_lock_again_and_the_last_release_frees_it(address: str, run: Run) -> None:
    async def body() -> None:
        lock = name("reentrant")
        async with AsyncClient(address) as client:
            outer = await client.acquire(lock, owner="task")
            inner = await client.acquire(lock, owner="task")
            assert inner.fencing_token == outer.fencing_token
            assert inner.grants[0].hold_count == 2
            result = await inner.release()
            assert (result.outcome, result.remaining_holds) == ("DECREMENTED", 1)
            assert outer.is_valid
            assert (await outer.release()).outcome == "RELEASED"

    run(body())


def test_owners_last_level_holds_the_lock_though_others_asked_before(address: str, run: Run) -> None:
    async def body() -> None:
        lock = name("reentrant")
        async with AsyncClient(address) as client:
            outer = await client.acquire(lock, owner="task")
            waiting = await queued(client, lock)
            inner = await client.acquire(lock, owner="task")
            await outer.release()
            assert await client.try_lock(lock) is None
            assert not waiting.done()
            await inner.release()
            await (await waiting).release()

    run(body())


def test_owner_is_granted_several_locks_again(address: str, run: Run) -> None:
    async def body() -> None:
        first, second = name("reentrant"), name("reentrant")
        async with AsyncClient(address) as client:
            outer = await client.acquire([first, second], owner="task")
            inner = await client.acquire([second, first], owner="task")
            assert [grant.fencing_token for grant in inner.grants] == [grant.fencing_token for grant in reversed(outer.grants)]
            await outer.release()
            await inner.release()

    run(body())


def test_requests_that_are_larger_together_than_a_message_may_be_are_granted(address: str, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(address) as client:
            metadata = {f"key-{i}": "x" * 250 for i in range(12)}
            many = [client.acquire(name("large"), metadata=metadata) for _ in range(60)]
            for lock in await asyncio.gather(*many):
                assert lock.is_valid

    run(body())


def test_lock_passes_on_when_its_longest_hold_is_over(address: str, run: Run) -> None:
    async def body() -> None:
        lock = name("held-long")
        async with AsyncClient(address) as one, AsyncClient(address) as other:
            held = await one.acquire(lock, max_hold=0.2)
            assert await held.wait_lost() == "MAX_HOLD"
            assert (await held.release()).outcome == "LOST"
            async with other.lock(lock) as next_one:
                assert next_one.grants[0].previous_end != "RELEASED"

    run(body())


def test_cancelled_wait_leaves_the_queue(address: str, run: Run) -> None:
    async def body() -> None:
        lock = name("cancelled")
        async with AsyncClient(address) as one, AsyncClient(address) as other:
            async with one.lock(lock):
                waiting = await queued(other, lock)
                behind = await queued(one, lock)
                waiting.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await waiting
            await (await behind).release()

    run(body())


def test_others_see_who_holds_and_what_it_says_of_itself(address: str, run: Run) -> None:
    async def body() -> None:
        lock = name("seen")
        async with AsyncClient(address, holder="somebody") as client, AsyncClient(address) as other:
            async with client.lock(lock, holder="a task", metadata={"step": "1"}) as held:
                holder = (await other.get_lock(lock)).holders[0]
                assert (holder.holder, holder.metadata, holder.fencing_token) == ("a task", {"step": "1"}, held.fencing_token)
                await held.update_metadata({"step": "2"})
                assert (await other.get_lock(lock)).holders[0].metadata == {"step": "2"}
                assert lock in [info.name async for info in other.list_locks("python/seen/")]
            assert (await other.get_lock(lock)).holders == ()

    run(body())


def test_holder_that_wants_to_know_is_told_once_that_somebody_waits(address: str, run: Run) -> None:
    async def body() -> None:
        lock = name("contended")
        told: asyncio.Queue[Contended] = asyncio.Queue()
        async with AsyncClient(address) as one, AsyncClient(address) as other:
            held = await one.acquire(lock, notify_contention=True, listener=Listener(on_contended=told.put_nowait))
            assert held.grants[0].waiters == 0
            first = await queued(other, lock, notify_contention=True, listener=Listener(on_contended=told.put_nowait))
            assert await told.get() == Contended(lock, 1, None)
            second = await queued(other, lock)
            await held.release()
            next_one = await first
            assert next_one.grants[0].waiters == 1
            assert await told.get() == Contended(lock, 1, None)
            await next_one.release()
            await (await second).release()
            assert told.empty()

    run(body())


def test_closing_the_client_frees_what_it_held_and_ends_what_waits(address: str, run: Run) -> None:
    async def body() -> None:
        lock = name("closed")
        async with AsyncClient(address) as other:
            client = AsyncClient(address)
            held = await client.acquire(lock)
            kept = await client.acquire(lock + "/kept", keep_unused=600)
            await (await client.acquire(lock + "/unused", keep_unused=600)).release()
            waiting = [await queued(client, lock), await queued(client, lock + "/kept", keep_unused=600)]
            await client.close()
            for task in waiting:
                with pytest.raises(ClosedError):
                    await task
            assert not held.is_valid
            assert kept.lost_reason == "LEASE_CLOSED"
            async with other.lock([lock, lock + "/kept", lock + "/unused"]):
                pass
            with pytest.raises(ClosedError):
                await client.acquire(lock)

    run(body())


def test_lock_that_was_released_says_so_when_it_is_checked(address: str, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(address) as client:
            held = await client.acquire(name("checked"))
            held.check()
            await held.release()
            with pytest.raises(ClosedError):
                held.check()
            assert held.lost_reason is None

    run(body())


def test_watch_tells_the_state_and_then_what_changes(real: servers.RealServer, run: Run) -> None:
    async def body() -> None:
        lock = name("watched")
        async with AsyncClient(real.address) as client:
            events = client.watch(lock)
            held = await client.acquire(lock)
            seen: list[str] = []
            async for event in events:
                if isinstance(event, Snapshot):
                    assert [holder.fencing_token for holder in event.lock.holders] == [held.fencing_token]
                elif isinstance(event, SnapshotEnd):
                    await held.release()
                elif isinstance(event, Change):
                    seen.append(event.cause)
                    break
            await events.aclose()
            assert seen == ["RELEASED"]

    run(body())


def test_token_is_that_of_the_holder_until_it_releases(real: servers.RealServer, run: Run) -> None:
    async def body() -> None:
        lock = name("token")
        async with AsyncClient(real.address) as client:
            async with client.lock(lock) as held:
                assert await client.check_token(lock, held.fencing_token)
                assert not await client.check_token(lock, held.fencing_token - 1)
                asked = await client.request_release(lock, "please")
                assert [holder.fencing_token for holder in asked] == [held.fencing_token]
            assert not await client.check_token(lock, held.fencing_token)

    run(body())


def test_limit_of_permits_is_configured_and_a_wrong_kind_is_refused(real: servers.RealServer, run: Run) -> None:
    async def body() -> None:
        lock = name("configured")
        async with AsyncClient(real.address) as client:
            assert await client.configure_lock(lock, 2) == 0
            async with client.lock(permits(lock, 2)):
                with pytest.raises(RequestRefusedError) as caught:
                    await client.acquire(exclusive(lock))
                assert caught.value.reason == "WRONG_KIND"
                assert caught.value.code == 9
            assert await client.configure_lock(lock, 0) == 2

    run(body())


def test_leader_is_seen_by_others_and_its_end_too(real: servers.RealServer, run: Run) -> None:
    async def body() -> None:
        lock = name("leader")
        async with AsyncClient(real.address) as client, AsyncClient(real.address) as other:
            leading = await client.election(lock).campaign("http://me")
            seen: list[str | None] = []
            observed = other.election(lock).observe()
            async for leader in observed:
                seen.append(None if leader is None else leader.value)
                if leader is None:
                    break
                await leading.release()
            await observed.aclose()
            assert seen == ["http://me", None]

    run(body())
