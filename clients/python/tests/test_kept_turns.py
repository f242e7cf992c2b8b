"""Locks that are kept, and whose turn it is: what the conformance kit, which knows no owners, modes and listeners, cannot judge."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from keeping import KEEP, Heard, Run, expire_first_lease, left, name, queued, until

from lockkeeper import (
    AsyncClient,
    AsyncLock,
    Client,
    Contended,
    LeaseLostError,
    Listener,
    LockRequest,
    LockSpec,
    NotAcquiredError,
    RequestRefusedError,
    ServerUnavailableError,
    permits,
    read,
    write,
)
from lockkeeper.testing import FakeServer
from lockkeeper.v1 import acquisition_pb2, session_pb2
from lockkeeper.v1 import types_pb2 as types


def test_those_who_wait_in_the_client_are_served_in_their_order(fake: FakeServer, heard: Heard, run: Run) -> None:
    async def body() -> None:
        order: list[int] = []
        async with AsyncClient(fake.address) as client:

            async def work(number: int) -> None:
                async with client.lock("a", keep_unused=KEEP) as lock:
                    order.append(number)
                    assert lock.fencing_token == used.fencing_token
                    await asyncio.sleep(0)

            used = await client.acquire("a", keep_unused=KEEP)
            tasks = [asyncio.ensure_future(work(number)) for number in range(5)]
            gone = await queued(client, "a", keep_unused=KEEP)
            tasks += [asyncio.ensure_future(work(5))]
            await asyncio.sleep(0)
            gone.cancel()
            with pytest.raises(asyncio.CancelledError):
                await gone
            await used.release()
            await asyncio.gather(*tasks)
            assert order == list(range(6))
            assert heard.kinds() == ["acquire"]

    run(body())


def test_wait_limit_counts_in_the_client(fake: FakeServer, heard: Heard, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(fake.address) as client, client.lock("a", keep_unused=KEEP):
            assert await client.try_lock("a", keep_unused=KEEP) is None
            with pytest.raises(NotAcquiredError) as caught:
                await client.acquire("a", keep_unused=KEEP, wait=0.05)
            assert caught.value.reason == "TIMED_OUT"
            assert heard.kinds() == ["acquire"]
            lease = client._state.lease
            assert lease is not None
            assert not lease.keeper.waiting

    run(body())


def test_owner_is_granted_it_once_more_and_the_last_release_passes_it_on(fake: FakeServer, heard: Heard, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(fake.address) as client:
            outer = await client.acquire("a", keep_unused=KEEP, owner="o")
            waiting = await queued(client, "a", keep_unused=KEEP, owner="p")
            inner = await client.acquire("a", keep_unused=KEEP, owner="o")
            assert inner.fencing_token == outer.fencing_token
            assert inner.grants[0].hold_count == 2
            result = await outer.release()
            assert (result.outcome, result.remaining_holds) == ("DECREMENTED", 1)
            assert not outer.is_valid
            assert inner.is_valid
            assert not waiting.done()
            assert (await inner.release()).outcome == "RELEASED"
            await (await waiting).release()
            assert heard.kinds() == ["acquire"]
            assert left(client)[0] == 1

    run(body())


def test_owner_that_would_wait_for_itself_is_refused(fake: FakeServer, heard: Heard, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(fake.address) as client:
            async with client.lock(["a", read("b")], keep_unused=KEEP, owner="o"):
                others: list[Any] = ["a", ["a", read("b")], write("b"), read("a")]
                for other in others:
                    with pytest.raises(NotAcquiredError) as caught:
                        await client.acquire(other, owner="o")
                    assert caught.value.reason == "WOULD_DEADLOCK"
                with pytest.raises(NotAcquiredError):
                    await client.acquire(["c", "a"], owner="o", keep_unused=KEEP)
                async with client.lock(read("b"), owner="o"):
                    pass
                assert await client.try_lock("a", owner="p") is None
                assert heard.kinds() == ["acquire", "acquire", "release", "acquire"]
            async with client.lock("a", owner="o"):  # unused, it is no more in his way than in anybody's
                pass

    run(body())


def test_what_can_be_shared_is_shared_and_kept(address: str, run: Run) -> None:
    async def body() -> None:
        lock = name("shared")
        async with AsyncClient(address) as client, AsyncClient(address) as other:
            for spec in (read(lock), permits(lock + "/p", 1, 2)):
                request = LockRequest(spec, keep_unused=KEEP)
                first, second = await client.acquire(request), await client.acquire(request)
                await first.release()
                await second.release()
                async with client.lock(request) as third, client.lock(request) as fourth:
                    assert {third.fencing_token, fourth.fencing_token} == {first.fencing_token, second.fencing_token}
            held = await client.acquire(permits(lock + "/p", 1, 2), keep_unused=KEEP, owner="o")
            async with client.lock(permits(lock + "/p", 1, 2), keep_unused=KEEP, owner="o") as more:
                assert more.fencing_token != held.fencing_token  # its own ones
            await held.release()
            async with other.lock([write(lock), permits(lock + "/p", 2, 2)], wait=60):
                assert left(client) == []

    run(body())


def test_threads_share_what_is_kept(fake: FakeServer, heard: Heard) -> None:
    inside, most, tokens = 0, 0, set()
    with Client(fake.address) as client:
        with client.lock("many", keep_unused=KEEP):
            pass

        def work() -> None:
            nonlocal inside, most
            for _ in range(20):
                with client.lock("many", keep_unused=KEEP) as lock:
                    inside += 1
                    most = max(most, inside)
                    tokens.add(lock.fencing_token)
                    inside -= 1

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert (most, len(tokens)) == (1, 1)
    assert heard.kinds() == ["acquire"]


@pytest.mark.parametrize("end", ["cancelled", "timed out", "refused", "unanswered"])
def test_when_the_one_that_asks_is_not_granted_the_next_one_asks(
    fake: FakeServer, heard: Heard, run: Run, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    acquire = fake._acquire

    def answer(lease: Any, message: acquisition_pb2.AcquireRequest) -> None:
        if message.holder != "first" or end in ("cancelled", "timed out"):
            acquire(lease, message)
        elif end == "refused":
            fake._say(lease, refused=session_pb2.Refused(acquire=message.request_id, reason=types.ERROR_REASON_PERMISSION_DENIED, code=7))

    async def body() -> None:
        async with AsyncClient(fake.address) as other, AsyncClient(fake.address, request_timeout=3) as client:
            theirs = await other.acquire("a")
            await client.try_lock("over the same stream")
            heard.clear()
            monkeypatch.setattr(fake, "_acquire", answer)
            wait = 0.3 if end in ("timed out", "unanswered") else None
            first = asyncio.ensure_future(client.acquire("a", keep_unused=KEEP, holder="first", wait=wait))
            await asyncio.sleep(0)
            second, third = await queued(client, "a", keep_unused=KEEP), await queued(client, "a", keep_unused=KEEP)
            if end == "cancelled":
                await heard.until("acquire")
                first.cancel()
            with pytest.raises((NotAcquiredError, RequestRefusedError, asyncio.CancelledError)):
                await first
            await until(lambda: sum(request.WhichOneof("request") == "acquire" for request in heard) == 2)
            withdrawn = ["release"] if end in ("cancelled", "unanswered") else []
            assert heard.kinds() == ["acquire", *withdrawn, "acquire"]  # and not that of the third one
            assert not second.done()
            await theirs.release()
            token = (await second).fencing_token
            await second.result().release()
            assert (await third).fencing_token == token
            await third.result().release()
            assert heard.kinds() == ["release"]  # theirs
            assert left(client)[0] == 1

    run(body())


@pytest.mark.usefixtures("long_turns")
def test_those_whose_turns_are_over_go_before_those_who_came_later(
    fake: FakeServer, heard: Heard, run: Run, later: Callable[[float], None]
) -> None:
    async def body() -> None:
        order: list[tuple[str, int]] = []
        told: asyncio.Queue[Contended] = asyncio.Queue()
        async with AsyncClient(fake.address, ttl=3600) as client, AsyncClient(fake.address, ttl=3600) as other:

            async def use(who: str, waits: asyncio.Task[AsyncLock]) -> None:
                async with await waits as lock:
                    order.append((who, lock.fencing_token))

            used = await client.acquire("a", keep_unused=KEEP, listener=Listener(on_contended=told.put_nowait))
            waiting = {who: await queued(client, "a", keep_unused=KEEP) for who in ("before", "before, too")}
            theirs = await queued(other, "a")
            assert await told.get() == Contended("a", 1, None)
            waiting |= {who: await queued(client, "a", keep_unused=KEEP) for who in ("later", "later, too")}
            assert heard.kinds() == ["acquire"] * 3  # the first one, theirs, and the first of those who came later
            tasks = [asyncio.ensure_future(use(who, task)) for who, task in waiting.items()]
            later(700)
            await used.release()
            await (await theirs).release()
            await asyncio.gather(*tasks)
            assert [who for who, _ in order] == ["later", "before", "before, too", "later, too"]
            assert len({token for _, token in order}) == 1
            assert heard.kinds() == ["release", "release"]
            assert left(client)[0] == 1

    run(body())


@pytest.mark.usefixtures("long_turns")
def test_grant_with_waiters_is_given_to_those_who_waited_before(fake: FakeServer, heard: Heard, run: Run) -> None:
    async def body() -> None:
        told: list[Contended] = []
        listener = Listener(on_contended=told.append)
        async with AsyncClient(fake.address) as client, AsyncClient(fake.address) as other:
            async with other.lock("a"):
                tasks = [await queued(client, "a", keep_unused=KEEP, listener=listener) for _ in range(3)]
                theirs = await queued(other, "a")
            lock = await tasks[0]
            later = await queued(client, "a", keep_unused=KEEP)  # at the server
            for task in tasks:
                assert (await task).fencing_token == lock.fencing_token
                await task.result().release()
            assert told == [Contended("a", 1, None)] * 3
            await (await theirs).release()
            assert (await later).fencing_token > theirs.result().fencing_token

    run(body())


@pytest.mark.parametrize("spec", [write("a"), read("a")])
def test_alike_requests_of_an_owner_made_together_are_levels(fake: FakeServer, heard: Heard, run: Run, spec: LockSpec) -> None:
    async def body() -> None:
        request = LockRequest(spec, keep_unused=KEEP, owner="o")
        async with AsyncClient(fake.address) as client, AsyncClient(fake.address) as other:
            async with other.lock(write("a")):
                first = await queued(client, request)
                theirs = await queued(other, write("a"))  # between the two
                second = await queued(client, request)
                assert heard.kinds() == ["acquire"] * 3  # without the second one
                if spec == read("a"):
                    assert await client.try_lock(read("a"), keep_unused=KEEP, owner="o") is None
                    assert heard.kinds() == ["acquire"]  # the server has said so
            locks = [await first, await second]
            assert [lock.grants[0].hold_count for lock in locks] == [1, 2]
            assert locks[0].fencing_token == locks[1].fencing_token
            assert locks[1].previous_end == "RELEASED" != locks[0].previous_end
            assert [(await lock.release()).outcome for lock in locks] == ["DECREMENTED", "RELEASED"]
            await (await theirs).release()
            assert left(client) == []

    run(body())


@pytest.mark.usefixtures("long_turns")
def test_owner_is_granted_all_that_it_waits_for_when_it_is_its_turn(fake: FakeServer, heard: Heard, run: Run) -> None:
    async def body() -> None:
        told: asyncio.Queue[Contended] = asyncio.Queue()
        async with AsyncClient(fake.address) as client, AsyncClient(fake.address) as other:
            used = await client.acquire("a", keep_unused=KEEP, owner="p", listener=Listener(on_contended=told.put_nowait))
            before = [await queued(client, "a", keep_unused=KEEP, owner=owner) for owner in ("o", "q", "o")]
            theirs = await queued(other, "a")
            assert await told.get() == Contended("a", 1, None)
            later = [await queued(client, "a", keep_unused=KEEP, owner=owner) for owner in ("o", "r", "o")]
            assert heard.kinds() == ["acquire"] * 3
            await used.release()
            mine = [await task for task in (before[0], before[2], later[0], later[2])]
            assert sorted(lock.grants[0].hold_count for lock in mine) == [1, 2, 3, 4]
            assert {lock.fencing_token for lock in mine} == {used.fencing_token}
            for lock in mine:
                await lock.release()
            await (await before[1]).release()  # within the second
            await (await theirs).release()
            await (await later[1]).release()
            kinds = heard.kinds()
            assert kinds[:2] == ["release", "acquire"]  # the owner's own request, and the next one's instead
            assert kinds.count("acquire") == 1
            assert left(client)[0] == 1

    run(body())


def test_owner_that_wants_permits_besides_would_wait_for_itself(fake: FakeServer, heard: Heard, run: Run) -> None:
    async def body() -> None:
        request = LockRequest(["a", permits("p", 1, 2)], keep_unused=KEEP, owner="o")
        async with AsyncClient(fake.address) as client:
            first, second = await asyncio.gather(client.acquire(request), client.acquire(request), return_exceptions=True)
            assert isinstance(first, AsyncLock)
            assert isinstance(second, NotAcquiredError)
            assert second.reason == "WOULD_DEADLOCK"
            with pytest.raises(NotAcquiredError) as caught:
                await client.acquire(request)
            assert caught.value.reason == "WOULD_DEADLOCK"
            assert heard.kinds() == ["acquire"]
            await first.release()
            async with client.lock(request) as again:
                assert again.fencing_token == first.fencing_token

    run(body())


def test_owner_that_holds_it_not_to_be_kept_would_wait_for_itself(fake: FakeServer, heard: Heard, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(fake.address) as client, client.lock([write("a"), read("b")], owner="o"):
            for spec in (write("a"), read("a"), write("b")):
                with pytest.raises(NotAcquiredError) as caught:
                    await client.acquire(spec, owner="o", keep_unused=KEEP)
                assert caught.value.reason == "WOULD_DEADLOCK"
            assert heard.kinds() == ["acquire"]
            async with client.lock(read("b"), owner="o", keep_unused=KEEP):
                pass

    run(body())


def test_users_after_the_first_are_told_that_the_one_before_has_released(fake: FakeServer, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(fake.address) as client:
            first = await client.acquire("a", keep_unused=KEEP)
            waiting = await queued(client, "a", keep_unused=KEEP)
            await first.release()
            assert first.previous_end == "UNSPECIFIED"  # as the server has said
            async with await waiting as second:
                assert second.previous_end == "RELEASED"
            async with client.lock("a", keep_unused=KEEP) as third:
                assert third.previous_end == "RELEASED"

    run(body())


@pytest.mark.usefixtures("long_turns")
def test_next_user_hears_what_came_before(fake: FakeServer, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(fake.address) as client:
            told: list[Any] = []
            listener = Listener(
                on_granted=lambda _: told.append("granted"),
                on_release_requested=lambda asked: told.append(asked.reason),
                on_jeopardy=lambda left: told.append(round(left, 1) <= 20.0),
            )
            for safe in (False, True):
                used = await client.acquire("a", keep_unused=KEEP)
                waiting = await queued(client, "a", keep_unused=KEEP, listener=listener)
                await asyncio.to_thread(fake.request_release, "a", "maintenance")
                await asyncio.to_thread(fake.jeopardize, 20.0)
                if safe:
                    await asyncio.to_thread(fake.make_safe)
                await client.try_lock("over the same stream")
                await used.release()
                await (await waiting).release()
                assert told == ["granted", "maintenance"] + ([] if safe else [True])
                told.clear()

    run(body())


def test_wait_limit_that_is_over_is_looked_at_first(fake: FakeServer, run: Run, later: Callable[[float], None]) -> None:
    async def body() -> None:
        async with AsyncClient(fake.address, ttl=3600) as client:
            used = await client.acquire("a", keep_unused=KEEP)
            late = await queued(client, "a", keep_unused=KEEP, wait=60)
            next_one = await queued(client, "a", keep_unused=KEEP)
            later(61)
            await used.release()
            with pytest.raises(NotAcquiredError) as caught:
                await late
            assert caught.value.reason == "TIMED_OUT"
            assert (await next_one).fencing_token == used.fencing_token

    run(body())


@pytest.mark.parametrize("what", ["lease", "jeopardy"])
def test_clock_is_looked_at_before_it_is_handed_on(fake: FakeServer, run: Run, later: Callable[[float], None], what: str) -> None:
    async def body() -> None:
        async with AsyncClient(fake.address, ttl=60 if what == "lease" else 3600) as client:
            used = await client.acquire("a", keep_unused=KEEP, owner="o")
            waiting = await queued(client, "a", keep_unused=KEEP)
            if what == "jeopardy":
                await asyncio.to_thread(fake.jeopardize, 60.0)
                await client.try_lock("over the same stream")
            later(61)
            level = asyncio.ensure_future(client.acquire("a", keep_unused=KEEP, owner="o"))
            await used.release()
            if what == "lease":
                await expire_first_lease(fake)
            for task in (waiting, level):
                try:
                    async with await task as lock:
                        assert lock.fencing_token > used.fencing_token
                except LeaseLostError:
                    assert (what, task) == ("lease", waiting)

    run(body())


def test_second_that_is_over_is_looked_at_before_it_is_handed_on(fake: FakeServer, run: Run, later: Callable[[float], None]) -> None:
    async def body() -> None:
        told: asyncio.Queue[Contended] = asyncio.Queue()
        async with AsyncClient(fake.address) as client, AsyncClient(fake.address) as other:
            used = await client.acquire("a", keep_unused=KEEP, listener=Listener(on_contended=told.put_nowait))
            waiting = await queued(client, "a", keep_unused=KEEP)
            theirs = await queued(other, "a")
            await told.get()
            later(2)
            await used.release()
            await (await theirs).release()
            await (await waiting).release()

    run(body())


def test_owner_is_not_granted_once_more_what_is_over_by_the_clock(fake: FakeServer, run: Run, later: Callable[[float], None]) -> None:
    async def body() -> None:
        async with AsyncClient(fake.address, ttl=600) as client:
            used = await client.acquire("a", keep_unused=KEEP, owner="o")
            await asyncio.to_thread(fake.jeopardize, 20.0)
            await client.try_lock("over the same stream")
            later(60)
            async with client.lock("a", keep_unused=KEEP, owner="o") as lock:
                assert lock.fencing_token > used.fencing_token
                assert await used.wait_lost() == "DEADLINE_PASSED"

    run(body())


def test_those_behind_one_that_reaches_no_server_wait_no_longer(run: Run) -> None:
    async def body() -> None:
        async with AsyncClient("127.0.0.1:1", request_timeout=1.0) as client:  # one after the other they would take 200 seconds
            ends = await asyncio.gather(*(client.acquire("a", keep_unused=KEEP) for _ in range(200)), return_exceptions=True)
            assert all(isinstance(end, ServerUnavailableError) for end in ends)

    run(body())
