"""The clock by which a client counts its own deadline."""

from __future__ import annotations

import time

_CLOCK = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))


def now() -> float:
    """Seconds of a clock that never goes back, and goes on while the machine is suspended where there is such a clock."""
    return time.monotonic() if _CLOCK is None else time.clock_gettime(_CLOCK)
