"""What can go wrong, each with the reason that the contract names."""

from __future__ import annotations

from collections.abc import Sequence


class LockkeeperError(Exception):
    """The base of all errors of this package."""


class ClosedError(LockkeeperError):
    """The client is closed, or was closed meanwhile."""


class ServerUnavailableError(LockkeeperError):
    """No server could be reached, or none answered within the request timeout. Whether a request was carried out is not known."""


class _Reasoned(LockkeeperError):
    """An error with the name of a reason."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class LeaseLostError(_Reasoned):
    """The lease ended while the request waited: ask again. ``reason`` is why, as a ``LeaseEndReason``, or ``DEADLINE_PASSED``."""


class LockLostError(_Reasoned):
    """The locks were held and are not any more: what was done under them may not have been protected.

    ``reason`` is a ``LossReason`` without its prefix, or ``DEADLINE_PASSED`` (the client's own deadline), ``LEASE_SUPERSEDED``, ...
    """


class NotAcquiredError(_Reasoned):
    """The locks were not granted, for a reason that a caller must expect.

    ``reason`` is a ``NotAcquiredReason`` without its prefix: ``TIMED_OUT``, ``WOULD_DEADLOCK``, ``QUEUE_FULL``, ...; one that only a
    later server knows is ``UNKNOWN``. ``holders`` says who held the locks, as far as known.
    """

    def __init__(self, message: str, reason: str, holders: Sequence[str] = ()) -> None:
        super().__init__(message, reason)
        self.holders = tuple(holders)


class RequestRefusedError(_Reasoned):
    """A server refused a request.

    ``reason`` is an ``ErrorReason`` without its prefix; ``code`` the gRPC status code's number; ``field`` the path of the field that was
    wrong, or empty; ``retry_after`` the seconds after which the same request may succeed, or None: it never will.
    """

    def __init__(self, message: str, reason: str, code: int, field: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, reason)
        self.code = code
        self.field = field
        self.retry_after = retry_after
