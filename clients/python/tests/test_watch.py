"""A watch whose streams break, on a server of its own: the server in memory has no watches."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
import grpc.aio
import pytest

from lockkeeper import AsyncClient
from lockkeeper.v1 import types_pb2, watch_pb2
from lockkeeper.watching import Gap, Snapshot, SnapshotEnd


@pytest.mark.parametrize(("names", "prefix"), [(["billing/1"], None), ([], "billing/")])
def test_watch_begins_anew_with_a_gap_or_resumes_from_its_revision(names: list[str], prefix: str | None, run: Callable[..., Any]) -> None:
    begun: list[int] = []  # the start revision of each stream

    async def watch(request: watch_pb2.WatchRequest, context: Any) -> AsyncIterator[watch_pb2.WatchResponse]:
        begun.append(request.start_revision)
        snapshot = watch_pb2.WatchResponse(snapshot=types_pb2.LockState(name="billing/1"))
        end = watch_pb2.WatchResponse(revision=7, snapshot_end=watch_pb2.SnapshotEnd())
        yield snapshot if len(begun) == 1 else end  # the first stream breaks in the snapshot, the others after it
        yield watch_pb2.WatchResponse(heartbeat=types_pb2.Heartbeat())
        await context.abort(grpc.StatusCode.UNAVAILABLE, "broken by a test")

    async def body() -> None:
        handler = grpc.unary_stream_rpc_method_handler(watch, watch_pb2.WatchRequest.FromString, watch_pb2.WatchResponse.SerializeToString)
        server = grpc.aio.server(handlers=[grpc.method_handlers_generic_handler("lockkeeper.v1.LockService", {"Watch": handler})])
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        async with AsyncClient(f"127.0.0.1:{port}") as client:
            events = client.watch(*names, prefix=prefix)
            seen = [type(await anext(events)) for _ in range(4)]
            await events.aclose()
        await server.stop(0)
        assert (seen, begun) == ([Snapshot, Gap, SnapshotEnd, SnapshotEnd], [0, 0, 7])

    run(body())
