"""Speaks the kit's line protocol for a lease: docs/writing-a-client.md describes it. Usage: driver.py"""

import asyncio
import json
import sys

from lease import Lease


class Driver:
    def __init__(self, kind):
        self.kind, self.lease, self.servers, self.ttl = kind, None, [], 0

    async def run(self):
        lines = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
        while line := await lines.readline():
            await self.on(json.loads(line))

    async def on(self, command):
        do, name = command["do"], command.get("id", "")
        if do == "open":
            self.servers, self.ttl = command["servers"], command["ttl_ms"] / 1000
        elif do == "acquire" and "keep_ms" in command:
            self.tell("unsupported", name)  # keep_ms is optional, and this client is meant to be short
        elif do == "acquire":
            if self.lease is None or self.lease.over:
                self.lease = self.kind(self.servers, self.ttl, self.tell)
            wait = command["wait_ms"] / 1000 if "wait_ms" in command else None
            self.lease.acquire(name, command["locks"], wait)
        elif do == "release":
            self.lease.release(name)
        elif do == "holding":
            report(holding=self.lease is not None and self.lease.holds(name), id=name, **{"is": "holding"})
        elif do == "close":
            asyncio.ensure_future(self.close())

    async def close(self):
        if self.lease:
            await self.lease.close()
        report(**{"is": "closed"})

    def tell(self, what, name, tokens=None, reason=""):
        more = {"tokens": [str(token) for token in tokens]} if tokens else {"reason": reason} if reason else {}
        report(**{"is": what}, id=name, **more)


def report(**fields):
    print(json.dumps(fields), flush=True)


if __name__ == "__main__":
    asyncio.run(Driver(Lease).run())
