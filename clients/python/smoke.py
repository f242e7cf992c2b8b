"""Uses the package as it is installed: `make package` runs this in an environment that has nothing else."""

import asyncio
from importlib.resources import files

import lockkeeper
from lockkeeper.testing import FakeServer


async def use(address: str) -> None:
    async with lockkeeper.AsyncClient(address) as client, client.lock("orders/42") as lock:
        assert lock.is_valid


with FakeServer() as server:
    with lockkeeper.Client(server.address) as client, client.lock("orders/42") as held:
        assert held.is_valid
    asyncio.run(use(server.address))
assert files(lockkeeper).joinpath("py.typed").is_file()
