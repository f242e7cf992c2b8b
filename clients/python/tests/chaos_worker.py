"""A process of several clients for the chaos tests. Works until a line comes on its standard input, then finishes what it has begun; dies
when its input ends. Arguments: process name, servers, port of the registers, history file, clients, seed."""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from typing import Any

from lockkeeper import AsyncClient, AsyncLock, LeaseLostError, Listener, LockkeeperError, LockSpec, NotAcquiredError, exclusive, read, write
from lockkeeper._clock import now

# The history has the clock that all processes share, and deadlines are by the client's.
SHIFT = now() - time.monotonic()


class History:
    """One JSON object a line; each is with the kernel at once."""

    def __init__(self, path: str) -> None:
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def write(self, event: str, **fields: Any) -> None:
        line = json.dumps({"t": time.monotonic_ns(), "e": event, **fields}, separators=(",", ":")) + "\n"
        os.write(self.file, line.encode())


class Registers:
    """A connection to the registers that the locks protect."""

    def __init__(self, port: int, history: History) -> None:
        self.port = port
        self.history = history
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def increment(self, acquisition: str, lock: str, token: int) -> bool:
        """Reads a number and writes one more; false if the token was found to be stale."""
        before = await self.ask(acquisition, "read", lock, token, 0, f"R {lock} {token}")
        if before is None:
            return False
        return await self.ask(acquisition, "write", lock, token, before + 1, f"W {lock} {token} {before + 1}") is not None

    async def ask(self, acquisition: str, what: str, lock: str, token: int, value: int, line: str) -> int | None:
        if self.streams is None:
            self.streams = await asyncio.open_connection("127.0.0.1", self.port)
        answers, requests = self.streams
        self.history.write(what, a=acquisition, lock=lock, token=token, value=value)
        requests.write((line + "\n").encode())
        word, number = (await answers.readline()).split()
        self.history.write("answer", a=acquisition, ok=word == b"ok", value=int(number))
        return int(number) if word == b"ok" else None


@dataclass
class Work:
    """What a client does next: the same as the clients of other languages."""

    lock: LockSpec
    mode: str
    hold: float
    step: float
    rest: float
    wait: float | None = None
    withdraw_after: float | None = None

    @staticmethod
    def draw(index: int, chance: random.Random) -> Work:
        if index % 3 == 0:
            lock = exclusive(f"chaos/long/{chance.randrange(16)}")
            return Work(lock, "exclusive", chance.uniform(1, 12), 0.4, chance.uniform(0.1, 1))
        if index % 3 == 1:
            lock = exclusive(f"chaos/hot/{chance.randrange(4)}")
            work = Work(lock, "exclusive", chance.uniform(0.001, 0.06), 0.02, chance.uniform(0.02, 0.25))
            draw = chance.random()
            if draw < 0.2:
                work.wait = chance.uniform(0.001, 1.5)
            elif draw < 0.3:
                work.withdraw_after = chance.uniform(0, 0.3)
            return work
        name, mode = f"chaos/shared/{chance.randrange(3)}", chance.choice(["write", "read", "read"])
        lock = write(name) if mode == "write" else read(name)
        return Work(lock, mode, chance.uniform(0.005, 0.8), 0.05, chance.uniform(0.05, 0.5))


class Hand:
    """One client with one lease: asks, works, releases, until it is told to stop."""

    def __init__(self, name: str, index: int, servers: list[str], port: int, history: History, seed: float, stop: asyncio.Event) -> None:
        self.name = name
        self.index = index
        self.history = history
        self.chance = random.Random(seed)
        self.stop = stop
        turned = servers[index % len(servers) :] + servers[: index % len(servers)]
        self.client = AsyncClient(",".join(turned), holder=name)
        self.registers = Registers(port, history)
        self.held: tuple[str, AsyncLock, int] | None = None

    async def run(self) -> None:
        looking = asyncio.ensure_future(self.look())
        count = 0
        while not await self.pause(0.001):
            count += 1
            work = Work.draw(self.index, self.chance)
            await self.once(f"{self.name}/{count}", work)
            await self.pause(work.rest)
        looking.cancel()
        await self.client.close()

    async def pause(self, seconds: float) -> bool:
        """Waits; says whether it is time to stop."""
        try:
            await asyncio.wait_for(self.stop.wait(), seconds)
        except asyncio.TimeoutError:
            return False
        return True

    async def once(self, a: str, work: Work) -> None:
        keep = self.chance.choice([None, self.chance.uniform(0.1, 5)])
        self.history.write("ask", a=a, lock=work.lock.name, mode=work.mode, kept=keep is not None)
        listener = Listener(
            on_queued=lambda places: self.history.write("queued", a=a, lease=self.client.lease_tag, ahead=places[0].ahead),
            on_granted=lambda lock: self.granted(a, lock),
            on_lost=lambda reason: self.lost(a, reason),
        )
        asking = self.client.acquire(work.lock, wait=work.wait, keep_unused=keep, listener=listener)
        try:
            lock = await asyncio.wait_for(asking, work.withdraw_after)
        except asyncio.TimeoutError:
            self.history.write("refused", a=a, reason="WITHDRAWN")
        except LeaseLostError as error:
            self.history.write("refused", a=a, reason=f"LEASE_LOST {error.reason}")
        except NotAcquiredError as error:
            self.history.write("refused", a=a, reason=error.reason)
        except LockkeeperError as error:
            self.history.write("refused", a=a, reason=repr(error))
        else:
            await self.use(a, work, lock)

    async def use(self, a: str, work: Work, lock: AsyncLock) -> None:
        end = time.monotonic() + work.hold
        while lock.is_valid and time.monotonic() < end:
            # Not checked again before the write: that is what the token is for.
            if work.mode != "read" and not await self.registers.increment(a, lock.name, lock.fencing_token):
                break
            if await self.pause(work.step):
                break
        self.held = None
        self.history.write("release", a=a, until=until(lock))
        result = await lock.release()
        self.history.write("released", a=a, reason=result.outcome)

    def granted(self, a: str, lock: AsyncLock) -> None:
        self.held = (a, lock, until(lock))
        self.history.write("granted", a=a, lease=self.client.lease_tag, token=lock.fencing_token, until=until(lock))

    def lost(self, a: str, reason: str) -> None:
        lock = self.held[1] if self.held is not None else None
        self.held = None
        self.history.write("lost", a=a, until=until(lock) if lock is not None else 0, reason=reason)

    async def look(self) -> None:
        """Writes down when the deadline of what is held has moved on."""
        while True:
            await asyncio.sleep(0.2)
            if self.held is not None:
                a, lock, known = self.held
                if until(lock) != known:
                    self.held = (a, lock, until(lock))
                    self.history.write("extended", a=a, until=until(lock))


def until(lock: AsyncLock) -> int:
    return int((lock.valid_until - SHIFT) * 1e9)


def await_stop(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    for line in sys.stdin:
        print("told:", line.strip(), flush=True)
        loop.call_soon_threadsafe(stop.set)
    os._exit(3)


async def main() -> None:
    process, servers, port, file, count, seed = sys.argv[1:]
    history = History(file)
    history.write("begin", process=process)
    stop = asyncio.Event()
    threading.Thread(target=await_stop, args=(asyncio.get_running_loop(), stop), daemon=True).start()
    chance = random.Random(int(seed))
    names = [f"{process}/{index}" for index in range(int(count))]
    hands = [Hand(n, i, servers.split(","), int(port), history, chance.random(), stop) for i, n in enumerate(names)]
    await asyncio.gather(*(hand.run() for hand in hands))
    history.write("end", process=process)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(4)  # so that the run fails
    sys.stdout.flush()
    os._exit(0)
