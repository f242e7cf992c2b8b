"""The table of shards: which of several ensembles serves which namespace."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lockkeeper._transport import Target, parse_server
from lockkeeper.v1 import shard_service_pb2 as shards_pb

MOST_SHARDS = 1_000
MOST_NAMESPACES = 10_000
MOST_MOVES = 100
MOST_ADDRESSES = 16
_ID = re.compile(r"[a-z0-9-]{1,32}")


def namespace_of(name: str) -> str:
    """The first segment of a lock's name, or of a prefix."""
    return name.split("/", 1)[0]


def weight(shard_id: str, namespace: str) -> int:
    """How much a shard weighs for a namespace, by rendezvous hashing: 64 bits, unsigned. The highest of all hashed shards serves it."""
    return int.from_bytes(hashlib.sha256(f"{shard_id}/{namespace}".encode()).digest()[:8], "big")


def _require(ok: bool, what: str) -> None:
    if not ok:
        raise ValueError(f"the table of shards: {what}")


@dataclass(frozen=True)
class Shard:
    """One ensemble with its coordinators."""

    id: str
    targets: tuple[Target, ...]
    hashed: bool = False

    @staticmethod
    def of(message: shards_pb.Shard) -> Shard:
        """Reads a shard.

        Raises:
            ValueError: its id or one of its addresses is malformed, or it has none, or more than 16.
        """
        _require(_ID.fullmatch(message.id) is not None, f"{message.id!r} is no id of a shard")
        count = len(message.addresses)
        _require(1 <= count <= MOST_ADDRESSES, f'"{message.id}" has {count} addresses, and not 1 to {MOST_ADDRESSES}')
        return Shard(message.id, tuple(parse_server(address) for address in message.addresses), message.hashed)


@dataclass(frozen=True)
class Table:
    """Which shard serves what, as one version of the table says."""

    version: int
    shards: Mapping[str, Shard]
    placed: Mapping[str, str]
    _hashed: dict[str, Shard | None] = field(default_factory=dict, compare=False)  # what was hashed before; at most 10,000

    @staticmethod
    def of(message: shards_pb.ShardTable) -> Table:
        """Reads a table.

        Raises:
            ValueError: it is larger than the contract allows, or malformed.
        """
        for what, count, most in (
            ("shards", len(message.shards), MOST_SHARDS),
            ("namespaces", len(message.namespaces), MOST_NAMESPACES),
            ("moves", len(message.moves), MOST_MOVES),
        ):
            _require(count <= most, f"{count} {what} are more than {most}")
        shards = {shard.id: Shard.of(shard) for shard in message.shards}
        _require(len(shards) == len(message.shards), "two shards have one id")
        for each in message.namespaces:
            _require(each.shard in shards, f'"{each.namespace}" is at "{each.shard}", which it does not have')
        return Table(message.version, shards, {each.namespace: each.shard for each in message.namespaces})

    def shard_of(self, namespace: str) -> Shard | None:
        """Who serves a namespace: who is named, or else the hashed shard that weighs most; None: nobody whom the table knows.

        Of a namespace that moves, it is the shard that did serve it: that tells when it does no more.
        """
        named = self.placed.get(namespace)
        if named is not None:
            return self.shards[named]
        if namespace not in self._hashed:
            if len(self._hashed) >= MOST_NAMESPACES:
                self._hashed.clear()
            self._hashed[namespace] = heaviest(self.shards.values(), namespace)
        return self._hashed[namespace]


def heaviest(shards: Iterable[Shard], namespace: str) -> Shard | None:
    """Which of the hashed shards weighs most for a namespace; of two with one weight, the one whose id comes first."""
    hashed = [shard for shard in shards if shard.hashed]
    return min(hashed, key=lambda shard: (-weight(shard.id, namespace), shard.id), default=None)
