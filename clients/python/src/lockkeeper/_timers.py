"""Timers by name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from lockkeeper._acquisition import NEVER
from lockkeeper._clock import now


class Timers:
    """The timers of one lease, each of which is set or not."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._set: dict[object, asyncio.TimerHandle] = {}

    def __call__(self, name: object, at: float | None = None, action: Callable[[], None] | None = None) -> None:
        """Sets the timer of that name anew, or stops it."""
        known = self._set.pop(name, None)
        if known is not None:
            known.cancel()
        if at is not None and action is not None and at != NEVER:

            def run() -> None:
                self._set.pop(name, None)
                action()

            self._set[name] = self._loop.call_later(max(0.0, at - now()), run)

    def stop(self) -> None:
        """Stops all."""
        for name in list(self._set):
            self(name)
