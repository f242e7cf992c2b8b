"""Acquires and releases without a pause, for the benchmarks: load.py lockkeeper|redis HOST:PORT; orders come on standard input."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
Cycle = Callable[[str], Awaitable[float]]


class Tally:
    def __init__(self) -> None:
        self.cycles = 0
        self.waits: list[float] = []
        self.first = asyncio.Event()

    def begin(self) -> None:
        self.cycles, self.waits, self.first = 0, [], asyncio.Event()

    def add(self, wait: float) -> None:
        self.cycles += 1
        self.waits.append(wait)
        self.first.set()

    def latency(self) -> dict[str, float]:
        waits = sorted(self.waits) or [0.0]
        micros = {name: waits[int(part * (len(waits) - 1))] * 1e6 for name, part in PERCENTILES.items()}
        return {"count": len(self.waits), **micros, "max": waits[-1] * 1e6, "mean": sum(waits) / len(waits) * 1e6}


async def carry_out(order: dict[str, Any], cycle: Cycle) -> None:
    tally, stopping, failure = Tally(), False, ""

    async def client(number: int) -> None:
        lock = "bench/hot" if order["shape"] == "HOT" else f"bench/own-{number}"
        while not stopping:
            tally.add(await cycle(lock))

    tasks = [asyncio.ensure_future(client(number)) for number in range(order["clients"])]
    try:
        if order["warmMillis"]:
            await asyncio.wait_for(tally.first.wait(), 30)
            await asyncio.wait(tasks, timeout=order["warmMillis"] / 1000, return_when=asyncio.FIRST_EXCEPTION)
        say("begin")
        tally.begin()
        began, cpu = time.monotonic_ns(), time.process_time_ns()
        await asyncio.wait(tasks, timeout=order["millis"] / 1000, return_when=asyncio.FIRST_EXCEPTION)
        if not tally.cycles:
            await asyncio.wait_for(tally.first.wait(), 30)
        nanos, spent = time.monotonic_ns() - began, time.process_time_ns() - cpu
        report = {"cycles": tally.cycles, "nanos": nanos, "cpuNanos": spent, "acquire": tally.latency()}
        stopping = True
        await asyncio.wait_for(asyncio.gather(*tasks), 60)
    except Exception as error:
        stopping, failure = True, repr(error)
        report = {"cycles": 0, "nanos": 1, "cpuNanos": 0, "acquire": Tally().latency()}
    say("end " + json.dumps({**report, "failure": failure}))
    say("idle")


def say(what: str) -> None:
    print("@load " + what, flush=True)


def of_lockkeeper(address: str) -> Cycle:
    from lockkeeper import AsyncClient

    client = AsyncClient(address)

    async def cycle(lock: str) -> float:
        asked = time.perf_counter()
        held = await client.acquire(lock)
        wait = time.perf_counter() - asked
        await held.release()
        return wait

    return cycle


def of_redis(address: str) -> Cycle:
    from redis.asyncio import Redis

    host, port = address.split(":")
    redis = Redis(host=host, port=int(port))

    async def cycle(name: str) -> float:
        lock = redis.lock(name, timeout=15, sleep=0.001)
        asked = time.perf_counter()
        await lock.acquire()
        wait = time.perf_counter() - asked
        await lock.release()
        return wait

    return cycle


async def main() -> None:
    system, address = sys.argv[1:3]
    cycle = of_redis(address) if system == "redis" else of_lockkeeper(address)
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    say("ready")
    while line := await lines.readline():
        await carry_out(json.loads(line), cycle)


if __name__ == "__main__":
    asyncio.run(main())
