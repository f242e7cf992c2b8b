from __future__ import annotations

import asyncio
import sys
import warnings
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import pytest
import servers
from keeping import Heard

from lockkeeper import AsyncClient, _kept
from lockkeeper._clock import now
from lockkeeper.testing import FakeServer
from lockkeeper.v1 import session_pb2

T = TypeVar("T")
LIMIT = 300.0  # seconds after which a test that waits has failed


@pytest.fixture(scope="session")
def real() -> Iterator[servers.RealServer]:
    why = servers.missing()
    if why:
        warnings.warn(f"SKIPPED: tests on a real coordinator: {why}", stacklevel=1)
        pytest.skip(f"no real coordinator: {why}")
    server = servers.RealServer()
    yield server
    server.close()


@pytest.fixture(autouse=True)
def long_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that stands still loses no lease, unless a test chooses the time to live."""
    defaults = AsyncClient.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "ttl", 3600.0)


@pytest.fixture
def fake() -> Iterator[FakeServer]:
    with FakeServer() as server:
        yield server


@pytest.fixture
def heard(fake: FakeServer, monkeypatch: pytest.MonkeyPatch) -> Heard:
    """What the server in memory is asked."""
    heard, take = Heard(), fake._take

    def listen(lease: Any, request: session_pb2.SessionRequest) -> None:
        heard.append(request)
        take(lease, request)

    monkeypatch.setattr(fake, "_take", listen)
    return heard


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Moves the clock of the clients ahead, as a pause of the process does: their timers have not run."""

    def move(seconds: float) -> None:
        for module in [module for name, module in sys.modules.items() if name.startswith("lockkeeper") and hasattr(module, "now")]:
            monkeypatch.setattr(module, "now", lambda: now() + seconds)

    return move


@pytest.fixture
def long_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests that wait in the client for a contended lock have ten minutes to get it, not one second."""
    monkeypatch.setattr(_kept, "_FOR_THOSE_BEFORE", 600.0)


@pytest.fixture(params=["fake", "real"])
def address(request: pytest.FixtureRequest) -> str:
    """Where a server is: a fake one, and then a real one, of which the tests must hold alike."""
    server = request.getfixturevalue(request.param)
    return str(server.address)


@pytest.fixture
def run() -> Callable[[Awaitable[T]], T]:
    """Runs a coroutine to its end, and says if it leaves a task behind."""

    def run_it(work: Awaitable[T]) -> T:
        async def bounded() -> T:
            result = await asyncio.wait_for(work, LIMIT)
            left = asyncio.all_tasks() - {asyncio.current_task()}
            if left:  # gRPC's own end a little later
                _, left = await asyncio.wait(left, timeout=LIMIT)
            assert not left, f"left behind: {left}"
            return result

        return asyncio.run(bounded())

    return run_it
