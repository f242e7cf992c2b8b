"""Locks that are kept: what the conformance kit, which knows no owners, modes, listeners and observers, cannot judge."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from keeping import KEEP, Heard, Run, keep, left, name, queued

from lockkeeper import (
    AsyncClient,
    Client,
    Contended,
    LeaseLostError,
    Listener,
    LockRequest,
    Observation,
    Observer,
    write,
)
from lockkeeper.testing import FakeServer
from lockkeeper.v1 import acquisition_pb2


def test_request_that_is_sent_is_nobodys(fake: FakeServer, heard: Heard, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(fake.address) as client:
            await keep(client, "a", owner="o", deadlock_check=True, metadata={"step": "1"})
            async with client.lock("a", keep_unused=KEEP, metadata={"step": "2"}) as lock:
                assert (await client.get_lock("a")).holders[0].metadata == {"step": "1"}
                await lock.update_metadata({"step": "3"})
                assert (await client.get_lock("a")).holders[0].metadata == {"step": "3"}
                await lock.answer_release(1)
            sent = heard[0].acquire
            assert (sent.owner, sent.notify_contention, sent.deadlock_check) == ("", True, acquisition_pb2.DEADLOCK_CHECK_OFF)

    run(body())


@pytest.mark.parametrize(
    "other",
    [
        LockRequest(["b", "a"], keep_unused=KEEP),
        LockRequest(["a", "b"], keep_unused=KEEP, lock_delay=1),
        LockRequest([write("a"), "b"], keep_unused=KEEP),
        LockRequest(["a"], keep_unused=KEEP),
        LockRequest(["a", "b"]),
    ],
)
def test_request_that_is_not_alike_asks_the_server(fake: FakeServer, heard: Heard, run: Run, other: LockRequest) -> None:
    async def body() -> None:
        async with AsyncClient(fake.address) as client:
            async with client.lock(["a", "b"], keep_unused=KEEP) as first:
                pass
            async with client.lock(other) as lock:
                assert lock.fencing_token != first.fencing_token
            assert heard.kinds()[:3] == ["acquire", "acquire", "release"]  # the server wants the first one back

    run(body())


def test_kept_lock_is_free_for_others_when_they_want_it(address: str, run: Run) -> None:
    async def body() -> None:
        lock = name("contended")
        async with AsyncClient(address) as client, AsyncClient(address) as other:
            async with client.lock(lock, keep_unused=KEEP) as first:
                pass
            async with client.lock(lock, keep_unused=KEEP) as second:
                assert second.fencing_token == first.fencing_token
            assert len((await other.get_lock(lock)).holders) == 1
            async with other.lock(lock, wait=60) as theirs:
                assert theirs.fencing_token > first.fencing_token
                assert left(client) == []
            async with client.lock(lock, keep_unused=KEEP) as again:
                assert again.fencing_token > theirs.fencing_token

    run(body())


def test_release_request_and_jeopardy_want_it_back_too(fake: FakeServer, heard: Heard, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(fake.address) as client:
            for number, ask in enumerate([lambda: fake.request_release("0"), fake.jeopardize]):
                await keep(client, f"{number}")
                await asyncio.to_thread(ask)
                await heard.until("release")
                assert heard.kinds() == ["acquire", "release"]
                assert left(client) == []
            told: asyncio.Queue[Any] = asyncio.Queue()
            listener = Listener(on_jeopardy=told.put_nowait, on_safe=lambda: told.put_nowait(0))
            async with client.lock("used", keep_unused=KEEP, listener=listener):
                await asyncio.to_thread(fake.jeopardize, 20.0)
                await asyncio.to_thread(fake.make_safe)
                assert [await told.get(), await told.get()] == [20.0, 0]
            await heard.until("release")  # once wanted back, it stays so
            assert left(client) == []

    run(body())


def test_last_user_says_for_how_long_it_is_kept(fake: FakeServer, heard: Heard, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(fake.address) as client:
            await keep(client, "a")
            async with client.lock("a", keep_unused=0.1):
                await asyncio.sleep(0.2)
                assert heard.kinds() == ["acquire"]
            await heard.until("release")
            assert left(client) == []

    run(body())


def test_at_most_a_thousand_are_kept_unused(fake: FakeServer, heard: Heard, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(fake.address) as client:
            locks = await asyncio.gather(*(client.acquire(f"{number}", keep_unused=KEEP) for number in range(1002)))
            for lock in locks:
                await lock.release()
            await client.try_lock("over the same stream")
            assert heard.kinds().count("release") == 2
            assert left(client)[0] == 1000

    run(body())


def test_lease_that_ends_takes_what_is_kept_with_it(fake: FakeServer, heard: Heard, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(fake.address) as client:
            await keep(client, "a")
            used = [await client.acquire("b", keep_unused=KEEP), await client.acquire("c")]
            waiting = [await queued(client, "b", keep_unused=KEEP), await queued(client, "c")]
            await asyncio.to_thread(fake.expire_leases)
            for task in waiting:
                with pytest.raises(LeaseLostError):
                    await task
            assert [await lock.wait_lost() for lock in used] == ["EXPIRED", "EXPIRED"]
            await keep(client, "a", "b")

    run(body())


def test_who_takes_it_again_and_again_hears_that_others_want_it(fake: FakeServer, run: Run) -> None:
    async def body() -> None:
        async with AsyncClient(fake.address) as client, AsyncClient(fake.address) as other:
            await keep(client, "a")
            theirs = asyncio.ensure_future(other.acquire("a"))
            while not theirs.done():
                lock = await client.try_lock("a", keep_unused=KEEP)
                if lock is not None:
                    await lock.release()
            await (await theirs).release()

    run(body())


def test_observer_counts_each_user(fake: FakeServer, run: Run) -> None:
    class Counts(Observation, Observer):
        def __init__(self) -> None:
            self.seen: list[str] = []

        def acquiring(self, request: LockRequest) -> Observation:
            return self

        def on_acquired(self, grants: Any, waited: float) -> None:
            self.seen.append("acquired")

        def on_not_acquired(self, error: Any, waited: float) -> None:
            self.seen.append("not acquired")

        def on_released(self, held: float) -> None:
            self.seen.append("released")

        def on_lost(self, reason: str, held: float) -> None:
            self.seen.append("lost")

    async def body() -> None:
        counts = Counts()
        async with AsyncClient(fake.address, observer=counts) as client:
            await keep(client, "a")
            lock = await client.acquire("a", keep_unused=KEEP)
            assert await client.try_lock("a", keep_unused=KEEP) is None
            await asyncio.to_thread(fake.lose, "a")
            await lock.wait_lost()
        assert counts.seen == ["acquired", "released", "acquired", "not acquired", "lost"]

    run(body())


def test_user_is_told_when_a_repeated_grant_says_that_others_wait(fake: FakeServer, heard: Heard, run: Run) -> None:
    def grant_anew() -> None:  # as a server does that has taken the lease over
        (request,) = fake._queues["a"]
        grant = acquisition_pb2.Grant(name="a", fencing_token=request.tokens[0], waiters=2)
        fake._tell(request, granted=acquisition_pb2.Granted(grants=[grant], lease_id=request.lease.id))

    async def body() -> None:
        told: asyncio.Queue[Contended] = asyncio.Queue()
        async with AsyncClient(fake.address) as client:
            lock = await client.acquire("a", keep_unused=KEEP, listener=Listener(on_contended=told.put_nowait))
            await asyncio.to_thread(fake._do, grant_anew)
            assert await told.get() == Contended("a", 2, None)
            assert lock.is_valid
            assert heard.kinds() == ["acquire"]
            await lock.release()
            await heard.until("release")
            assert left(client) == []

    run(body())


def test_leadership_is_not_kept(fake: FakeServer, heard: Heard, run: Run) -> None:
    options: Any = {"keep_unused": KEEP}

    async def body() -> None:
        async with AsyncClient(fake.address) as client:
            election = client.election("leader")
            for refuses in (lambda: client.election("leader", **options), lambda: election.terms("me", **options)):
                with pytest.raises(TypeError):
                    refuses()
            with pytest.raises(TypeError):
                await election.campaign("me", **options)
            await (await election.campaign("me")).release()
            assert heard.kinds() == ["acquire", "release"]

    run(body())
    with Client(fake.address) as client, pytest.raises(TypeError):
        client.lead("leader", "me", lambda _: None, **options)
