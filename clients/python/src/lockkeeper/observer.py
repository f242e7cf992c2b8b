"""Hooks for metrics and tracing."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from lockkeeper.errors import LockkeeperError
from lockkeeper.events import Grant

if TYPE_CHECKING:
    from lockkeeper.requests import LockRequest

LOG = logging.getLogger("lockkeeper")


class Observation:
    """What becomes of one request. Override what is of interest. Times are seconds."""

    def on_acquired(self, grants: tuple[Grant, ...], waited: float) -> None:
        """The locks are held."""

    def on_not_acquired(self, error: LockkeeperError | None, waited: float) -> None:
        """They were not granted; without an error, the caller has withdrawn."""

    def on_released(self, held: float) -> None:
        """The holder has released them."""

    def on_lost(self, reason: str, held: float) -> None:
        """They were lost."""


class Observer:
    """Is told what a client does. Override what is of interest; what a method throws is logged, and harms nothing else.

    Methods are called on the client's event loop and must not block; `acquiring` where the request is made, so that a span can be
    begun as a child of the caller's.
    """

    def acquiring(self, request: LockRequest) -> Observation:
        """A request begins."""
        return Observation()

    def on_stream_opened(self, coordinator: str, resumed: bool) -> None:
        """A session stream was opened, for a new lease or to resume one."""

    def on_stream_lost(self, server: str) -> None:
        """A session stream has ended."""


class SafeObserver(Observer):
    """Calls another observer, and logs what it throws."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer

    def acquiring(self, request: LockRequest) -> Observation:
        observation = _safely(self._observer.acquiring, request)
        return _SafeObservation(observation if isinstance(observation, Observation) else Observation())

    def on_stream_opened(self, coordinator: str, resumed: bool) -> None:
        _safely(self._observer.on_stream_opened, coordinator, resumed)

    def on_stream_lost(self, server: str) -> None:
        _safely(self._observer.on_stream_lost, server)


class _SafeObservation(Observation):
    def __init__(self, observation: Observation) -> None:
        self._observation = observation

    def on_acquired(self, grants: tuple[Grant, ...], waited: float) -> None:
        _safely(self._observation.on_acquired, grants, waited)

    def on_not_acquired(self, error: LockkeeperError | None, waited: float) -> None:
        _safely(self._observation.on_not_acquired, error, waited)

    def on_released(self, held: float) -> None:
        _safely(self._observation.on_released, held)

    def on_lost(self, reason: str, held: float) -> None:
        _safely(self._observation.on_lost, reason, held)


def _safely(method: Any, *arguments: Any) -> Any:
    try:
        return method(*arguments)
    except Exception:
        LOG.exception("an observer failed")
        return None
