"""Speaks the conformance kit's line protocol (docs/writing-a-client.md) for the client."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Coroutine
from typing import Any

from lockkeeper import AsyncClient, AsyncLock, LeaseLostError, Listener, LockkeeperError, NotAcquiredError


class Driver:
    def __init__(self) -> None:
        self.client: AsyncClient | None = None
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.background: set[asyncio.Task[None]] = set()
        self.locks: dict[str, AsyncLock] = {}

    async def run(self) -> None:
        lines = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
        while line := await lines.readline():
            self.on(json.loads(line))

    def on(self, command: dict[str, Any]) -> None:
        do, name = command["do"], command.get("id", "")
        if do == "open":
            servers = ",".join(command["servers"])
            self.client = AsyncClient(servers, ttl=command["ttl_ms"] / 1000, request_timeout=60, _first=0)
        elif do == "acquire":
            self.tasks[name] = asyncio.ensure_future(self.acquire(name, command))
        elif do == "release":
            self.spawn(self.release(name))
        elif do == "holding":
            lock = self.locks.get(name)
            report("holding", name, holding=lock is not None and lock.is_valid)
        elif do == "close":
            self.spawn(self.close())

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self.background.add(task)
        task.add_done_callback(self.background.discard)

    async def acquire(self, name: str, command: dict[str, Any]) -> None:
        assert self.client is not None
        wait = command["wait_ms"] / 1000 if "wait_ms" in command else None
        keep = command["keep_ms"] / 1000 if "keep_ms" in command else None
        listener = Listener(
            on_granted=lambda lock: self.granted(name, lock),
            on_jeopardy=lambda _: report("jeopardy", name),
            on_safe=lambda: report("safe", name),
            on_lost=lambda reason: report("lost", name, reason=reason),
        )
        try:
            await self.client.acquire(command["locks"], wait=wait, keep_unused=keep, listener=listener)
        except (NotAcquiredError, LeaseLostError) as error:
            report("not_acquired", name, reason=error.reason)
        except LockkeeperError as error:
            report("not_acquired", name, reason=repr(error))
        except asyncio.CancelledError:
            report("not_acquired", name, reason="WITHDRAWN")

    def granted(self, name: str, lock: AsyncLock) -> None:
        self.locks[name] = lock
        report("granted", name, tokens=[str(grant.fencing_token) for grant in lock.grants])

    async def release(self, name: str) -> None:
        lock = self.locks.get(name)
        if lock is None:
            self.tasks[name].cancel()
        elif lock.lost_reason is None:
            result = await lock.release()
            report("released", name, outcome=result.outcome)

    async def close(self) -> None:
        assert self.client is not None
        await self.client.close()
        report("closed", "")


def report(kind: str, name: str, **fields: Any) -> None:
    print(json.dumps({"is": kind, "id": name, **fields}), flush=True)


if __name__ == "__main__":
    asyncio.run(Driver().run())
