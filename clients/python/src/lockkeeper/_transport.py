"""Addresses, and channels to them."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import grpc.aio

DEFAULT_PORT = 7420
Token = Callable[[], str | Awaitable[str]]
_TOKEN = re.compile(r"[\x21-\x7e]+")
_LOOKUP_SECONDS = 3.0
_PING_MS = 10_000
_PONG_MS = 5_000


class NoTokenError(Exception):
    """There is no token at the moment."""


class TokenRefusedError(Exception):
    """The token may not be sent to this server, or is none."""


@dataclass(frozen=True)
class Target:
    """A server as it was named."""

    host: str
    port: int

    @property
    def authority(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


@dataclass(frozen=True)
class Server:
    """One address of a server."""

    target: Target
    address: str

    @property
    def is_loopback(self) -> bool:
        return self.target.is_loopback and ipaddress.ip_address(self.address.split("%", 1)[0]).is_loopback

    def __str__(self) -> str:
        return self.target.authority


def parse_servers(servers: str) -> tuple[Target, ...]:
    """Reads ``host:port`` or several of them, separated by commas; the port may be left out.

    Raises:
        ValueError: an address is malformed.
    """
    return tuple(_parse(part.strip()) for part in servers.split(","))


def _parse(text: str) -> Target:
    plain = text.removeprefix("dns:///")
    match = re.fullmatch(r"\[([^\]]+)\](?::(\d+))?|([^:\[\]/\s]+)(?::(\d+))?", plain)
    if match is None:
        raise ValueError(f"servers: {text!r} is not host:port")
    port = int(match[2] or match[4] or DEFAULT_PORT)
    if not 1 <= port <= 65535:
        raise ValueError(f"servers: the port of {text!r} must be 1 to 65535")
    return Target(match[1] or match[3], port)


@dataclass(frozen=True)
class Transport:
    """How servers are reached: encrypted or not, and who one says that one is."""

    tls: bool = False
    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    token: Token | None = None

    def channel(self, server: Server, pings: bool = False) -> grpc.aio.Channel:
        """A channel with a connection of its own; certificates are read anew. With pings, a peer that has vanished is noticed.

        Raises:
            OSError: a file cannot be read.
        """
        host = f"[{server.address}]" if ":" in server.address else server.address
        address = f"{host}:{server.target.port}"
        options: list[tuple[str, Any]] = [
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.enable_retries", 0),
            ("grpc.default_authority", server.target.authority),
        ]
        if pings:
            options += [("grpc.keepalive_time_ms", _PING_MS), ("grpc.keepalive_timeout_ms", _PONG_MS)]
            options.append(("grpc.http2.max_pings_without_data", 0))
        if not self.tls:
            return grpc.aio.insecure_channel(address, options)
        options.append(("grpc.ssl_target_name_override", server.target.host))
        credentials = grpc.ssl_channel_credentials(
            root_certificates=self.ca.read_bytes() if self.ca else None,
            private_key=self.key.read_bytes() if self.key else None,
            certificate_chain=self.certificate.read_bytes() if self.certificate else None,
        )
        return grpc.aio.secure_channel(address, credentials, options)

    async def metadata(self, server: Server) -> tuple[tuple[str, str], ...]:
        """What goes with a call.

        Raises:
            NoTokenError: the supplier of the token failed.
            TokenRefusedError: the token may not be sent to this server, or is malformed.
        """
        if self.token is None:
            return ()
        if not self.tls and not server.is_loopback:
            raise TokenRefusedError("the token is not sent in plaintext to another machine: use TLS")
        try:
            token = self.token()
            if not isinstance(token, str):
                token = await token
        except Exception as error:
            raise NoTokenError(f"there is no token at the moment: {error}") from error
        if not isinstance(token, str) or not _TOKEN.fullmatch(token):
            raise TokenRefusedError("the token is no str, is empty, or has other characters than printable ASCII without blanks")
        return (("authorization", f"Bearer {token}"),)


class Servers:
    """All servers, in turn: each address of a name is one. Names are looked up anew at the end of each round."""

    def __init__(self, targets: tuple[Target, ...], first: int) -> None:
        self._targets = targets
        self._next = first
        self._round: list[Server] = []

    async def next(self) -> Server:
        """The server to try next; a name that cannot be looked up is passed over.

        Raises:
            OSError: no name could be looked up.
        """
        failure: OSError | None = None
        for _ in range(len(self._targets) + 1):
            if self._round:
                return self._round.pop(0)
            target = self._targets[self._next % len(self._targets)]
            self._next += 1
            try:
                self._round = [Server(target, address) for address in await _lookup(target)]
            except (OSError, UnicodeError, asyncio.TimeoutError) as error:
                failure = OSError(f"{target.authority} cannot be looked up: {error}")
        raise failure or OSError("no server has an address")


async def _lookup(target: Target) -> list[str]:
    loop = asyncio.get_running_loop()
    found = await asyncio.wait_for(loop.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM), _LOOKUP_SECONDS)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))
