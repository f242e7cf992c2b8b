"""What the server in memory says of namespaces that its shard does not serve."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from google.protobuf.message import Message
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from lockkeeper._messages import enum_name, to_duration
from lockkeeper._shards import Table, namespace_of
from lockkeeper.v1 import lock_service_pb2 as pb
from lockkeeper.v1 import shard_service_pb2 as shards_pb
from lockkeeper.v1 import types_pb2 as types

_MOVING = 0.05  # seconds until a namespace that moves is asked for again


def table_of(
    addresses: Mapping[str, str], namespaces: Mapping[str, str], moving: Mapping[str, str], version: int = 1
) -> shards_pb.ShardTable:
    """A table in which all shards serve what is hashed.

    Raises:
        ValueError: it is malformed.
    """
    for namespace, to in moving.items():
        if namespace not in namespaces or to not in addresses:
            raise ValueError(f'"{namespace}" cannot move to "{to}": it must be named, and the shard be one')
    table = shards_pb.ShardTable(
        version=version,
        lead=min(addresses),
        shards=[shards_pb.Shard(id=shard, addresses=[addresses[shard]], hashed=True) for shard in sorted(addresses)],
        namespaces=[shards_pb.PlacedNamespace(namespace=each, shard=namespaces[each]) for each in sorted(namespaces)],
        moves=[shards_pb.NamespaceMove(namespace=each, to=moving[each]) for each in sorted(moving)],
    )
    Table.of(table)
    return table


class ShardCopy:
    """One shard's copy of the table."""

    def __init__(self, me: str, message: shards_pb.ShardTable) -> None:
        self._me = me
        self._message = message
        self._table = Table.of(message)
        self._moving = {move.namespace for move in message.moves}

    def answer(self) -> shards_pb.GetShardsResponse:
        """The table, for who asks for it."""
        return shards_pb.GetShardsResponse(table=self._message, self=self._me)

    def refusal(self, names: Iterable[str]) -> pb.Refused | None:
        """Why nothing is done about these locks, or locks below a prefix; None: they are of this shard."""
        namespaces = dict.fromkeys(map(namespace_of, names))
        serving = {namespace: self._shard(namespace) for namespace in namespaces}
        if len({shard.id for shard in serving.values()}) > 1:
            message = f"{', '.join(namespaces)} are of different shards"
            return pb.Refused(code=9, reason=types.ERROR_REASON_ACROSS_SHARDS, message=message)
        for namespace, shard in serving.items():
            if namespace in self._moving:
                message = f'"{namespace}" is on its way'
                refused = pb.Refused(code=14, reason=types.ERROR_REASON_NAMESPACE_MOVING, message=message)
                refused.retry_after.CopyFrom(to_duration(_MOVING))
                return refused
            if shard.id != self._me:
                wrong = shards_pb.WrongShard(namespace=namespace, shard=shard, table_version=self._table.version)
                message = f'"{namespace}" is served by the shard "{shard.id}"'
                return pb.Refused(code=9, reason=types.ERROR_REASON_WRONG_SHARD, message=message, wrong_shard=wrong)
        return None

    def _shard(self, namespace: str) -> shards_pb.Shard:
        shard = self._table.shard_of(namespace)
        return next((each for each in self._message.shards if shard is not None and each.id == shard.id), shards_pb.Shard())


def trailer(refused: pb.Refused) -> tuple[tuple[str, bytes], ...]:
    """What goes with the status of a call that is refused so."""
    details: list[Message] = [ErrorInfo(reason=enum_name(refused, "reason"), domain="lockkeeper.io")]
    if refused.HasField("retry_after"):
        details.append(RetryInfo(retry_delay=refused.retry_after))
    if refused.HasField("wrong_shard"):
        details.append(refused.wrong_shard)
    status: Any = Status(code=refused.code, message=refused.message)
    for detail in details:
        status.details.add().Pack(detail)
    return (("grpc-status-details-bin", status.SerializeToString()),)
