"""What the leases and calls of one client have in common, at whichever shard they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lockkeeper._transport import Transport
from lockkeeper.observer import Observer

if TYPE_CHECKING:
    from lockkeeper._kept import Hold


@dataclass(frozen=True)
class Settings:
    """How a client was made, and what counts for it as a whole. Times are seconds."""

    transport: Transport
    ttl: float | None
    holder: str
    request_timeout: float
    observer: Observer
    unused: set[Hold] = field(default_factory=set)  # locks that are kept
