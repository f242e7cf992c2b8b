"""Calls that are answered once, and watches: over a connection of their own, at whichever server answers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import grpc
import grpc.aio

from lockkeeper._clock import backoff, now
from lockkeeper._messages import call_error, retry_delay, to_duration
from lockkeeper._transport import NoTokenError, Server, Servers, Target, TokenRefusedError, Transport
from lockkeeper.errors import ClosedError, LockkeeperError, RequestRefusedError, ServerUnavailableError
from lockkeeper.events import Contender, LockInfo
from lockkeeper.requests import lock_name, seconds
from lockkeeper.v1 import lease_service_pb2, lock_service_pb2, watch_pb2
from lockkeeper.watching import Gap, WatchEvent, to_event

LOG = logging.getLogger("lockkeeper")

_SERVICE = "/lockkeeper.v1.LockService/"
_LEASES = "/lockkeeper.v1.LeaseService/"
_ATTEMPT = 5.0  # seconds for one server, at most
_CLOSING_LIMIT = 60.0  # seconds for closing a lease that was given up
_MAX_CLOSINGS = 8
_ELSEWHERE = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED, grpc.StatusCode.UNKNOWN)


@dataclass
class _Connection:
    """A connection that calls share; after a failure it is closed by the last of them, so that no other is cut off."""

    server: Server
    channel: grpc.aio.Channel
    users: int = 0


def _watch_request(names: Sequence[str], prefix: str | None) -> watch_pb2.WatchRequest:
    if (not names) == (prefix is None):
        raise ValueError("a watch is of names or of a prefix")
    if len(names) > 256:
        raise ValueError(f"names must be 256 at most, not {len(names)}")
    return watch_pb2.WatchRequest(names=[lock_name(name) for name in names], prefix=prefix or "")


class Calls:
    """The calls of one client. The connection is made with the first and kept until a server fails."""

    def __init__(self, targets: tuple[Target, ...], first: int, transport: Transport, timeout: float) -> None:
        self._servers = Servers(targets, first)
        self._transport = transport
        self._timeout = timeout
        self._connection: _Connection | None = None
        self._channels: set[grpc.aio.Channel] = set()
        self._closed = False

    async def get_lock(self, name: str, queue_limit: int) -> LockInfo:
        request = lock_service_pb2.GetLockRequest(name=lock_name(name), queue_limit=queue_limit)
        return LockInfo._of((await self._call("GetLock", name, request, lock_service_pb2.GetLockResponse)).lock)

    async def list_locks(self, prefix: str) -> AsyncGenerator[LockInfo, None]:
        page = ""
        while True:
            request = lock_service_pb2.ListLocksRequest(prefix=prefix, page_token=page)
            response = await self._call("ListLocks", prefix, request, lock_service_pb2.ListLocksResponse)
            for lock in response.locks:
                yield LockInfo._of(lock)
            page = response.next_page_token
            if not page:
                return

    async def check_token(self, name: str, token: int) -> bool:
        request = lock_service_pb2.CheckTokenRequest(name=lock_name(name), fencing_token=token)
        return bool((await self._call("CheckToken", name, request, lock_service_pb2.CheckTokenResponse)).current)

    async def request_release(self, name: str, reason: str, deadline: float | None, requester: str) -> tuple[Contender, ...]:
        request = lock_service_pb2.RequestReleaseRequest(name=lock_name(name), reason=reason, requester=requester)
        if deadline is not None:
            request.deadline.CopyFrom(to_duration(seconds("deadline", deadline, 0, 7 * 86_400.0)))
        response = await self._call("RequestRelease", name, request, lock_service_pb2.RequestReleaseResponse)
        return tuple(Contender._of(holder) for holder in response.holders)

    async def configure_lock(self, name: str, limit: int) -> int:
        if not 0 <= limit <= 1_000_000:
            raise ValueError(f"limit must be 0 to 1,000,000, not {limit!r}")
        request = lock_service_pb2.ConfigureLockRequest(name=lock_name(name), limit=limit)
        return int((await self._call("ConfigureLock", name, request, lock_service_pb2.ConfigureLockResponse)).previous_limit)

    async def close_lease(self, lease_id: str) -> None:
        request = lease_service_pb2.CloseLeaseRequest(lease_id=lease_id)
        await self._call("CloseLease", "", request, lease_service_pb2.CloseLeaseResponse, _LEASES)

    async def watch(self, names: Sequence[str], prefix: str | None) -> AsyncGenerator[WatchEvent, None]:
        request = _watch_request(names, prefix)
        failures, begun = 0, False
        while True:
            pause: float | None = 0.0
            channel: grpc.aio.Channel | None = None
            try:
                server = await self._servers.next()
                channel = self._channel(server)
                metadata = await self._transport.metadata(server)
                call = channel.unary_stream(
                    _SERVICE + "Watch",
                    request_serializer=watch_pb2.WatchRequest.SerializeToString,
                    response_deserializer=watch_pb2.WatchResponse.FromString,
                )(request, metadata=metadata)
                if begun and not request.start_revision:
                    yield Gap("the watch begins anew")
                try:
                    async for message in call:
                        self._check_open()
                        failures, begun = 0, True
                        if not message.HasField("heartbeat"):
                            request.start_revision = message.revision
                        event = to_event(message)
                        if event is not None:
                            yield event
                finally:
                    call.cancel()
            except grpc.aio.AioRpcError as error:
                pause = retry_delay(error.trailing_metadata())
                if error.code() not in _ELSEWHERE and pause is None:
                    raise call_error("watch", error) from error
            except (OSError, NoTokenError):
                pass
            except TokenRefusedError as error:
                raise RequestRefusedError(str(error), "UNAUTHENTICATED", 16) from error
            except asyncio.CancelledError:
                self._check_open()  # the end of a channel cancels its calls
                raise
            finally:
                if channel is not None:
                    await self._close(channel)
            failures += 1
            await asyncio.sleep(max(pause or 0.0, backoff(failures)))

    async def _call(self, method: str, what: str, request: Any, answer: Any, service: str = _SERVICE) -> Any:
        """Asks servers in turn until one answers, or the request timeout is over."""
        give_up = now() + self._timeout
        what = f'{method} "{what}"'
        failures = 0
        while True:
            pause = 0.0
            try:
                return await self._attempt(service + method, request, answer, give_up)
            except grpc.aio.AioRpcError as error:
                failure: Exception = call_error(what, error)
                if error.code() not in _ELSEWHERE:
                    raise failure from error
                pause = retry_delay(error.trailing_metadata()) or 0.0
            except TokenRefusedError as error:
                raise RequestRefusedError(f"{what}: {error}", "UNAUTHENTICATED", 16) from error
            except (OSError, NoTokenError, asyncio.TimeoutError) as error:
                failure = ServerUnavailableError(f"{what}: no server could be reached: {error}")
            failures += 1
            pause = max(pause, backoff(failures))
            if now() + pause >= give_up:
                raise failure
            await asyncio.sleep(pause)

    async def _attempt(self, method: str, request: Any, answer: Any, give_up: float) -> Any:
        """Asks one server. Others are asked after one that does not answer."""
        connection = await self._connect(max(0.1, give_up - now()))
        connection.users += 1  # nothing has run since
        try:
            metadata = await asyncio.wait_for(self._transport.metadata(connection.server), max(0.1, give_up - now()))
            call = connection.channel.unary_unary(
                method,
                request_serializer=type(request).SerializeToString,
                response_deserializer=answer.FromString,
            )
            return await call(request, metadata=metadata, timeout=max(0.1, min(_ATTEMPT, give_up - now())))
        except grpc.aio.AioRpcError as error:
            if error.code() in _ELSEWHERE and self._connection is connection:
                self._connection = None
            raise
        except asyncio.CancelledError:
            self._check_open()  # the end of a channel cancels its calls
            raise
        finally:
            connection.users -= 1
            if connection.users == 0 and connection is not self._connection:
                await self._close(connection.channel)

    async def _connect(self, limit: float) -> _Connection:
        self._check_open()
        if self._connection is None:
            server = await asyncio.wait_for(self._servers.next(), limit)
            if self._connection is None:  # nobody else has meanwhile
                self._connection = _Connection(server, self._channel(server))
        return self._connection

    def _channel(self, server: Server) -> grpc.aio.Channel:
        self._check_open()
        channel = self._transport.channel(server, pings=True)
        self._channels.add(channel)
        return channel

    async def _close(self, channel: grpc.aio.Channel) -> None:
        if channel in self._channels:
            self._channels.discard(channel)
            await channel.close()

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError("the client is closed")

    async def close(self) -> None:
        """Ends all calls and watches."""
        self._closed = True
        for channel in list(self._channels):
            await self._close(channel)


class Closings:
    """Closes leases that were given up, over connections of their own: their coordinators would keep the locks until the leases expire."""

    def __init__(self, targets: tuple[Target, ...], first: int, transport: Transport) -> None:
        self._calls: Callable[[], Calls] = lambda: Calls(targets, first, transport, _CLOSING_LIMIT)
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, lease_id: str) -> None:
        """Closes a lease. Where no server answers in time, or too many are under way, it ends by its TTL."""
        if len(self._tasks) < _MAX_CLOSINGS:
            task = asyncio.get_running_loop().create_task(self._close(lease_id), name="lockkeeper-closing")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _close(self, lease_id: str) -> None:
        calls = self._calls()
        try:
            await calls.close_lease(lease_id)
        except LockkeeperError as error:
            LOG.debug("a lease that was given up could not be closed: %s", error)
        finally:
            await calls.close()

    async def wait(self, limit: float) -> None:
        """Waits for those that are under way, for so many seconds at most, and ends the others."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=limit)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
