"""The table of shards, and the hash that places what it does not name."""

from __future__ import annotations

import re

import pytest

from lockkeeper import _shards
from lockkeeper._fake_shards import table_of
from lockkeeper._shards import Table, namespace_of, weight
from lockkeeper._transport import Target
from lockkeeper.v1 import shard_service_pb2 as shards_pb


def shard(name: str, *, hashed: bool = True, addresses: int = 1) -> shards_pb.Shard:
    return shards_pb.Shard(id=name, addresses=[f"{name}-{i}:7420" for i in range(addresses)], hashed=hashed)


def table(*shards: shards_pb.Shard, namespaces: int = 0, moves: int = 0) -> shards_pb.ShardTable:
    placed = [shards_pb.PlacedNamespace(namespace=f"n{i}", shard=shards[0].id) for i in range(namespaces)]
    moving = [shards_pb.NamespaceMove(namespace=f"n{i}", to=shards[0].id) for i in range(moves)]
    return shards_pb.ShardTable(version=1, shards=shards, namespaces=placed, moves=moving)


def serving(message: shards_pb.ShardTable, namespace: str) -> str | None:
    found = Table.of(message).shard_of(namespace)
    return None if found is None else found.id


@pytest.mark.parametrize(
    ("hashed", "expected"),  # printf '%s' 'a/orders' | sha256sum
    [
        ("a/orders", 0xEBF83EB83F9203E6),
        ("b/orders", 0x84EF9421B677D214),
        ("c/orders", 0x5E02275C2649CC0D),
        ("a/payments", 0x23C7D6494A76C6AB),
        ("b/payments", 0x744B4A4A916A0E87),
        ("c/payments", 0x136522C2A22D4414),
        ("shard-1/é", 0xF14A02B739962D87),
        ("eu-west-1/orders", 0x508B0D5B54625C49),
    ],
)
def test_weight_is_that_of_the_contract(hashed: str, expected: int) -> None:
    assert weight(*hashed.split("/")) == expected


def test_heaviest_hashed_shard_serves_what_is_not_named() -> None:
    message = table(shard("a"), shard("b"), shard("c"))
    assert [serving(message, each) for each in ("orders", "payments", "orders")] == ["a", "b", "a"]
    assert serving(table(shard("a", hashed=False), shard("b"), shard("c")), "orders") == "b"
    assert serving(table(shard("a", hashed=False)), "orders") is None


def test_first_id_serves_where_the_weights_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_shards, "weight", lambda *_: 1)
    assert serving(table(shard("b"), shard("a"), shard("c")), "orders") == "a"


def test_named_namespace_is_where_the_table_says() -> None:
    message = table(shard("a"), shard("z", hashed=False))
    message.namespaces.add(namespace="orders", shard="z")
    assert serving(message, "orders") == "z"
    message.moves.add(namespace="orders", to="a")
    assert serving(message, "orders") == "z"


@pytest.mark.parametrize("moving", [{"orders": "b"}, {"stock": "a"}])
def test_server_in_memory_moves_what_is_named_to_a_shard(moving: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="cannot move"):
        table_of({"a": "localhost:1"}, {"orders": "a"}, moving)


def test_namespace_is_the_first_segment() -> None:
    assert [namespace_of(each) for each in ("orders", "orders/42", "orders/", "a/b/c")] == ["orders", "orders", "orders", "a"]


def test_addresses_are_read() -> None:
    message = table(shards_pb.Shard(id="a", addresses=["lock1:7421", "[::1]:7422"]))
    assert Table.of(message).shards["a"].targets == (Target("lock1", 7421), Target("::1", 7422))


def test_largest_table_is_taken() -> None:
    read = Table.of(table(*(shard(f"s{i}", addresses=16) for i in range(1_000)), namespaces=10_000, moves=100))
    assert (len(read.shards), len(read.placed)) == (1_000, 10_000)


def test_what_is_remembered_of_hashing_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_shards, "MOST_NAMESPACES", 10)
    read = Table.of(table(shard("a"), shard("b")))
    for i in range(50):
        assert read.shard_of(f"n{i}") == read.shard_of(f"n{i}")
    assert len(read._hashed) <= 10


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (table(*(shard(f"s{i}") for i in range(1_001))), "1001 shards"),
        (table(shard("a"), namespaces=10_001), "10001 namespaces"),
        (table(shard("a"), moves=101), "101 moves"),
        (table(shard("a", addresses=17)), "17 addresses"),
        (table(shard("a", addresses=0)), "0 addresses"),
        (table(shard("")), "no id"),
        (table(shard("A")), "no id"),
        (table(shard("x" * 33)), "no id"),
        (table(shard("a"), shard("a")), "one id"),
        (table(shards_pb.Shard(id="a", addresses=["no address"])), "is not host:port"),
        (shards_pb.ShardTable(version=1, namespaces=[shards_pb.PlacedNamespace(namespace="n", shard="b")]), '"n" is at "b"'),
    ],
)
def test_table_that_breaks_the_contract_is_rejected(message: shards_pb.ShardTable, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        Table.of(message)
