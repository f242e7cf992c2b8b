"""Calls to the servers of one shard: over a connection of their own, at whichever of them answers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import grpc
import grpc.aio

from lockkeeper._clock import backoff, now
from lockkeeper._messages import call_error, retry_delay
from lockkeeper._transport import NoTokenError, Server, Servers, Target, TokenRefusedError, Transport
from lockkeeper.errors import ClosedError, RequestRefusedError, ServerUnavailableError

_ATTEMPT = 5.0  # seconds for one server, at most
ELSEWHERE = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED, grpc.StatusCode.UNKNOWN)


@dataclass
class _Shared:
    """A channel that calls share; after a failure it is closed by the last of them, so that no other is cut off."""

    server: Server
    channel: grpc.aio.Channel
    users: int = 0


class Connection:
    """Made with the first call and kept until a server fails. Each watch has a channel of its own."""

    def __init__(self, targets: tuple[Target, ...], first: int, transport: Transport) -> None:
        self.servers = Servers(targets, first)
        self.transport = transport
        self._shared: _Shared | None = None
        self._channels: set[grpc.aio.Channel] = set()
        self._closed = False

    @property
    def is_unused(self) -> bool:
        """Whether no call and no watch goes on."""
        idle = self._shared.channel if self._shared is not None and self._shared.users == 0 else None
        return self._channels <= {idle}

    async def call(self, method: str, what: str, request: Any, answer: Any, give_up: float) -> Any:
        """Asks servers in turn until one answers, or it is time to give up.

        Raises:
            ServerUnavailableError: none has answered.
            RequestRefusedError: one refuses; of another shard, a `WrongShardError`.
            ClosedError: the client is closed.
        """
        failures = 0
        while True:
            pause = 0.0
            try:
                return await self._attempt(method, request, answer, give_up)
            except grpc.aio.AioRpcError as error:
                failure: Exception = call_error(what, error)
                if error.code() not in ELSEWHERE:
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
        shared = await self._connect(max(0.1, give_up - now()))
        shared.users += 1  # nothing has run since
        try:
            metadata = await asyncio.wait_for(self.transport.metadata(shared.server), max(0.1, give_up - now()))
            call = shared.channel.unary_unary(
                method,
                request_serializer=type(request).SerializeToString,
                response_deserializer=answer.FromString,
            )
            return await call(request, metadata=metadata, timeout=max(0.1, min(_ATTEMPT, give_up - now())))
        except grpc.aio.AioRpcError as error:
            if error.code() in ELSEWHERE and self._shared is shared:
                self._shared = None
            raise
        except asyncio.CancelledError:
            self.check_open()  # the end of a channel cancels its calls
            raise
        finally:
            shared.users -= 1
            if shared.users == 0 and shared is not self._shared:
                await self.close_channel(shared.channel)

    async def _connect(self, limit: float) -> _Shared:
        self.check_open()
        if self._shared is None:
            server = await asyncio.wait_for(self.servers.next(), limit)
            if self._shared is None:  # nobody else has meanwhile
                self._shared = _Shared(server, self.channel(server))
        return self._shared

    def channel(self, server: Server) -> grpc.aio.Channel:
        """Another channel, until it is closed by `close_channel`, or with all."""
        self.check_open()
        channel = self.transport.channel(server, pings=True)
        self._channels.add(channel)
        return channel

    async def close_channel(self, channel: grpc.aio.Channel) -> None:
        """Ends what goes on over it."""
        if channel in self._channels:
            self._channels.discard(channel)
            await channel.close()

    def check_open(self) -> None:
        """Raises a `ClosedError` if the client is closed."""
        if self._closed:
            raise ClosedError("the client is closed")

    async def close(self) -> None:
        """Ends all calls and watches."""
        self._closed = True
        for channel in list(self._channels):
            await self.close_channel(channel)
