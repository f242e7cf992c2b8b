from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import fields
from typing import Any

import pytest

from lockkeeper import AsyncClient, LockkeeperError, LockRequest, permits
from lockkeeper._transport import Target, parse_servers
from lockkeeper.requests import LockOptions, lock_name
from lockkeeper.testing import FakeServer

Run = Callable[[Awaitable[Any]], Any]


@pytest.mark.parametrize(
    ("locks", "options", "said"),
    [
        ("", {}, "name"),
        ("a//b", {}, "name"),
        ("a/../b", {}, "name"),
        ("a\nb", {}, "name"),
        ("x" * 513, {}, "512 bytes"),
        ("/".join("abcdefghijklmnopq"), {}, "16 segments"),
        ([], {}, "locks"),
        (["a", "a"], {}, "once"),
        ([str(i) for i in range(65)], {}, "1 to 64"),
        ("a", {"wait": -1}, "wait"),
        ("a", {"wait": 604_801}, "wait"),
        ("a", {"owner": "é" * 129}, "owner"),
        ("a", {"holder": "x" * 257}, "holder"),
        ("a", {"metadata": {"": "x"}}, "metadata"),
        ("a", {"metadata": {"k": "x" * 4096}}, "metadata"),
        ("a", {"metadata": {str(i): "" for i in range(33)}}, "metadata"),
        ("a", {"max_hold": 0.05}, "max_hold"),
        ("a", {"lock_delay": 3601}, "lock_delay"),
        ("a", {"position_interval": 0.01}, "position_interval"),
        ("a", {"keep_unused": 0.09}, "keep_unused must be 0.1 to 3600"),
        ("a", {"keep_unused": 3601}, "keep_unused must be 0.1 to 3600"),
        ("a", {"keep_unused": 1, "max_hold": 1}, "keep_unused and max_hold"),
    ],
)
def test_what_is_out_of_range_is_refused_and_named(locks: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        LockRequest(locks, **options)


@pytest.mark.parametrize(("count", "limit"), [(0, 1), (2, 1), (1, 1_000_001)])
def test_permits_are_within_the_limit(count: int, limit: int) -> None:
    with pytest.raises(ValueError, match="must be"):
        permits("a", count, limit)


def test_servers_have_a_default_port_and_may_be_ipv6() -> None:
    assert parse_servers("a, b:1 ,[::1],[::1]:5,dns:///c") == (
        Target("a", 7420),
        Target("b", 1),
        Target("::1", 7420),
        Target("::1", 5),
        Target("c", 7420),
    )


@pytest.mark.parametrize("servers", ["", "a,,b", "a:0", "a:65536", "a:x", "http://a", "a b"])
def test_malformed_servers_are_refused(servers: str) -> None:
    with pytest.raises(ValueError, match="servers"):
        parse_servers(servers)


@pytest.mark.parametrize("options", [{"ttl": 1}, {"ttl": 3601}, {"request_timeout": 0}, {"holder": "x" * 257}, {"certificate": "c"}])
def test_malformed_options_of_a_client_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be"):
        AsyncClient("a", **options)


def test_what_is_of_another_type_is_named() -> None:
    wrong: Any = object()
    uses: dict[str, Callable[[], object]] = {
        "name": lambda: lock_name(wrong),
        "locks": lambda: LockRequest(wrong),
        "wait": lambda: LockRequest("a", wait=wrong),
        "keep_unused": lambda: LockRequest("a", keep_unused=wrong),
        "notify_contention": lambda: LockRequest("a", notify_contention=wrong),
        "owner": lambda: LockRequest("a", owner=wrong),
        "permits": lambda: permits("a", wrong),
    }
    for name, use in uses.items():
        with pytest.raises(TypeError, match=f"^{name} must be .*object"):
            use()
    with pytest.raises(TypeError, match=r"^metadata must be"):
        LockRequest("a", metadata={"a": wrong})


def test_options_are_the_fields_of_a_request_and_any_collection_of_locks_will_do() -> None:
    assert set(LockOptions.__annotations__) == {field.name for field in fields(LockRequest)} - {"locks"}
    assert str(LockRequest(deque(["a", "b"]))) == '"a", "b"'


def test_number_of_requests_and_locks_of_a_client_is_limited(fake: FakeServer, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lockkeeper.aio.MAX_REQUESTS", 2)

    async def body() -> None:
        async with AsyncClient(fake.address) as client, client.lock("a"), client.lock("b"):
            with pytest.raises(LockkeeperError, match="at most 2"):
                await client.acquire("c")

    run(body())
