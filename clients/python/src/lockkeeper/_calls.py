"""Calls that are answered once, and watches: at the shard that serves the namespace, over a connection of their own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import grpc
import grpc.aio

from lockkeeper._acquisition import NEVER
from lockkeeper._clock import backoff, now
from lockkeeper._connection import ELSEWHERE
from lockkeeper._messages import call_error, is_elsewhere, retry_delay, to_duration
from lockkeeper._router import Ensemble, Router, Trip
from lockkeeper._transport import NoTokenError, TokenRefusedError
from lockkeeper.errors import LockkeeperError, RequestRefusedError
from lockkeeper.events import Contender, LockInfo
from lockkeeper.requests import lock_name, seconds
from lockkeeper.v1 import lock_service_pb2 as pb
from lockkeeper.v1 import watch_pb2
from lockkeeper.watching import Gap, WatchEvent, to_event

_SERVICE = "/lockkeeper.v1.LockService/"


def _watch_request(names: Sequence[str], prefix: str | None) -> watch_pb2.WatchRequest:
    if (not names) == (prefix is None):
        raise ValueError("a watch is of names or of a prefix")
    if len(names) > 256:
        raise ValueError(f"names must be 256 at most, not {len(names)}")
    return watch_pb2.WatchRequest(names=[lock_name(name) for name in names], prefix=prefix or "")


class Calls:
    """The calls of one client, each to the shard of its namespace."""

    def __init__(self, router: Router, timeout: float) -> None:
        self._router = router
        self._timeout = timeout

    async def get_lock(self, name: str, queue_limit: int) -> LockInfo:
        request = pb.GetLockRequest(name=lock_name(name), queue_limit=queue_limit)
        return LockInfo._of((await self._call("GetLock", name, request, pb.GetLockResponse)).lock)

    async def list_locks(self, prefix: str) -> AsyncGenerator[LockInfo, None]:
        page = ""
        while True:
            request = pb.ListLocksRequest(prefix=prefix, page_token=page)
            response = await self._call("ListLocks", prefix, request, pb.ListLocksResponse, self._router.ensemble_below(prefix))
            for lock in response.locks:
                yield LockInfo._of(lock)
            page = response.next_page_token
            if not page:
                return

    async def check_token(self, name: str, token: int) -> bool:
        request = pb.CheckTokenRequest(name=lock_name(name), fencing_token=token)
        return bool((await self._call("CheckToken", name, request, pb.CheckTokenResponse)).current)

    async def request_release(self, name: str, reason: str, deadline: float | None, requester: str) -> tuple[Contender, ...]:
        request = pb.RequestReleaseRequest(name=lock_name(name), reason=reason, requester=requester)
        if deadline is not None:
            request.deadline.CopyFrom(to_duration(seconds("deadline", deadline, 0, 7 * 86_400.0)))
        response = await self._call("RequestRelease", name, request, pb.RequestReleaseResponse)
        return tuple(Contender._of(holder) for holder in response.holders)

    async def configure_lock(self, name: str, limit: int) -> int:
        if not 0 <= limit <= 1_000_000:
            raise ValueError(f"limit must be 0 to 1,000,000, not {limit!r}")
        request = pb.ConfigureLockRequest(name=lock_name(name), limit=limit)
        return int((await self._call("ConfigureLock", name, request, pb.ConfigureLockResponse)).previous_limit)

    async def watch(self, names: Sequence[str], prefix: str | None) -> AsyncGenerator[WatchEvent, None]:
        request = _watch_request(names, prefix)
        ensemble = self._router.ensemble_of(names) if names else self._router.ensemble_below(request.prefix)
        trip = Trip(tuple(names) or (request.prefix,), NEVER, ensemble)
        failures, begun = 0, False
        while True:
            pause: float | None = 0.0
            connection = trip.ensemble.connection
            channel: grpc.aio.Channel | None = None
            try:
                server = await connection.servers.next()
                channel = connection.channel(server)
                metadata = await connection.transport.metadata(server)
                call = channel.unary_stream(
                    _SERVICE + "Watch",
                    request_serializer=watch_pb2.WatchRequest.SerializeToString,
                    response_deserializer=watch_pb2.WatchResponse.FromString,
                )(request, metadata=metadata)
                if begun and not request.start_revision:
                    yield Gap("the watch begins anew")
                try:
                    async for message in call:
                        connection.check_open()
                        failures, begun, trip.refusals = 0, True, 0
                        request.start_revision = message.revision
                        event = to_event(message)
                        if event is not None:
                            yield event
                finally:
                    call.cancel()
            except grpc.aio.AioRpcError as error:
                pause = retry_delay(error.trailing_metadata())
                if error.code() not in ELSEWHERE and pause is None:
                    await self._follow(trip, call_error("watch", error))
                    request.start_revision = failures = 0
                    continue
            except (OSError, NoTokenError):
                pass
            except TokenRefusedError as error:
                raise RequestRefusedError(str(error), "UNAUTHENTICATED", 16) from error
            except asyncio.CancelledError:
                connection.check_open()  # the end of a channel cancels its calls
                raise
            finally:
                if channel is not None:
                    await connection.close_channel(channel)
            failures += 1
            await asyncio.sleep(max(pause or 0.0, backoff(failures)))

    async def _call(self, method: str, what: str, request: Any, answer: Any, ensemble: Ensemble | None = None) -> Any:
        """Asks the servers of a lock's shard, until one answers, or the request timeout is over."""
        give_up = now() + self._timeout
        trip = Trip((what,), give_up, ensemble or self._router.ensemble_of([what]))
        while True:
            try:
                return await trip.ensemble.connection.call(_SERVICE + method, f'{method} "{what}"', request, answer, give_up)
            except RequestRefusedError as error:
                await self._follow(trip, error)

    async def _follow(self, trip: Trip, error: LockkeeperError) -> None:
        """Goes on at another shard, or raises the error."""
        if not is_elsewhere(error) or not await self._router.follow(trip, error):
            raise error
