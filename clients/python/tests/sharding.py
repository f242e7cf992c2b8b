"""Servers in memory that are shards of one service, and what they were asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import grpc
from keeping import Heard

from lockkeeper import AsyncClient
from lockkeeper._fake_shards import table_of
from lockkeeper.testing import FakeServer, share
from lockkeeper.v1 import lock_service_pb2 as pb
from lockkeeper.v1 import shard_service_pb2 as shards_pb
from lockkeeper.v1 import watch_pb2

HERE = {"here": "a", "orders": "b", "stock": "b"}


class ShardServer(FakeServer):
    """A server that notes what it is asked, and may keep silent about the table, or not know it."""

    def __init__(self) -> None:
        self.heard = Heard()
        self.calls: list[str] = []
        self.leases_opened = 0
        self.is_silent = False  # about the table
        self.says: shards_pb.GetShardsResponse | grpc.StatusCode | None = None  # of the table, instead of its own
        super().__init__()

    def __enter__(self) -> ShardServer:
        return self

    def _services(self) -> dict[str, dict[str, Any]]:
        services = super()._services()
        services["LockService"]["Watch"] = grpc.unary_stream_rpc_method_handler(
            self._watch, watch_pb2.WatchRequest.FromString, watch_pb2.WatchResponse.SerializeToString
        )
        return services

    def _take(self, lease: Any, request: pb.SessionRequest) -> None:
        self.heard.append(request)
        super()._take(lease, request)

    async def _opened(self, opening: pb.OpenSession, context: Any) -> Any:
        self.leases_opened += not opening.lease_id
        return await super()._opened(opening, context)

    async def _get_shards(self, request: shards_pb.GetShardsRequest, context: Any) -> shards_pb.GetShardsResponse:
        self.calls.append("GetShards")
        while self.is_silent:  # noqa: ASYNC110 # nobody tells
            await asyncio.sleep(0.01)
        if isinstance(self.says, grpc.StatusCode):
            await context.abort(self.says, "says a test")
        if isinstance(self.says, shards_pb.GetShardsResponse):
            return self.says
        return await super()._get_shards(request, context)

    async def _get_lock(self, request: pb.GetLockRequest, context: Any) -> pb.GetLockResponse:
        self.calls.append("GetLock")
        return await super()._get_lock(request, context)

    async def _list_locks(self, request: pb.ListLocksRequest, context: Any) -> pb.ListLocksResponse:
        self.calls.append("ListLocks")
        return await super()._list_locks(request, context)

    async def _watch(self, request: watch_pb2.WatchRequest, context: Any) -> AsyncIterator[watch_pb2.WatchResponse]:
        self.calls.append("Watch")
        name = request.names[0] if request.names else request.prefix
        await self._check_shard(name, context)
        if not request.start_revision:
            yield watch_pb2.WatchResponse(revision=1, snapshot_end=watch_pb2.SnapshotEnd())
        while True:
            await asyncio.sleep(0.01)
            await self._check_shard(name, context)

    def acquires(self) -> list[pb.AcquireRequest]:
        """The requests for locks, in their order."""
        return [request.acquire for request in list(self.heard) if request.WhichOneof("request") == "acquire"]


class Service:
    """Two shards, "a" and "b". Clients are given the address of "a"."""

    def __init__(self, a: ShardServer, b: ShardServer) -> None:
        self.a, self.b = a, b
        self.address = a.address
        self.version = 0
        self.change()

    @property
    def servers(self) -> dict[str, FakeServer]:
        return {"a": self.a, "b": self.b}

    def table(self, namespaces: Mapping[str, str] | None = None, version: int = 0) -> shards_pb.ShardTable:
        """A table as the service has it, or with other namespaces."""
        addresses = {shard: server.address for shard, server in self.servers.items()}
        return table_of(addresses, {**HERE, **(namespaces or {})}, {}, version or self.version)

    def change(self, namespaces: Mapping[str, str] | None = None, moving: Mapping[str, str] | None = None) -> None:
        """Another version of the table, at both."""
        self.version += 1
        share(self.servers, {**HERE, **(namespaces or {})}, moving=moving, version=self.version)

    def tables_asked(self) -> int:
        """How often somebody asked for the table."""
        return (self.a.calls + self.b.calls).count("GetShards")


async def know(client: AsyncClient) -> None:
    """Lets the client find both shards."""
    async with client.lock("orders/0"), client.lock("here/0"):
        pass
