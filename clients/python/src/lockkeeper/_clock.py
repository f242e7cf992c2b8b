"""The clock by which a client counts its own deadline, and the pauses between its attempts."""

from __future__ import annotations

import random
import time

_CLOCK = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))


def now() -> float:
    """Seconds of a clock that never goes back, and goes on while the machine is suspended where there is such a clock."""
    return time.monotonic() if _CLOCK is None else time.clock_gettime(_CLOCK)


def longest_pause(failures: int) -> float:
    """The longest pause after so many failures in a row, in seconds."""
    return min(2.0, 0.05 * 2.0 ** min(failures, 10))


def backoff(failures: int) -> float:
    """The pause after so many failures in a row, in seconds, with jitter."""
    return longest_pause(failures) * random.uniform(0.5, 1.0)
