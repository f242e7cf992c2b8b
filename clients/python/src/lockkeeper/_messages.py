"""Between messages of the contract and Python's own values."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from lockkeeper.errors import LockkeeperError, RequestRefusedError, ServerUnavailableError
from lockkeeper.v1 import session_pb2

_NANOS = 1_000_000_000
_HOPELESS = (
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.UNIMPLEMENTED,
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.PERMISSION_DENIED,
)
_GONE = (grpc.StatusCode.NOT_FOUND, grpc.StatusCode.FAILED_PRECONDITION)
_MAX_BATCH = 256
_MAX_BYTES = 60 * 1024  # of the requests in one batch: a server takes messages of 64 KiB


def to_duration(seconds: float) -> Duration:
    nanos = round(seconds * _NANOS)
    return Duration(seconds=nanos // _NANOS, nanos=nanos % _NANOS)


def to_seconds(duration: Duration) -> float:
    return duration.seconds + duration.nanos / _NANOS


def enum_name(message: Any, field: str) -> str:
    """The name of an enum's value without the enum's prefix; ``UNKNOWN`` for one that only a later server knows."""
    names = message.DESCRIPTOR.fields_by_name[field].enum_type.values_by_number
    value = names.get(getattr(message, field))
    return "UNKNOWN" if value is None else str(value.name).removeprefix(str(names[0].name).removesuffix("UNSPECIFIED"))


def _status_of(metadata: Any) -> Status:
    for key, value in metadata or ():
        if key == "grpc-status-details-bin":
            with contextlib.suppress(DecodeError):  # of something between
                return Status.FromString(value)
    return Status()


def retry_delay(metadata: Any) -> float | None:
    """How long a server wants to be left alone, in seconds, if the end of its call says so."""
    info = RetryInfo()
    for detail in _status_of(metadata).details:
        if detail.Unpack(info):
            return to_seconds(info.retry_delay)
    return None


def call_error(what: str, error: grpc.aio.AioRpcError) -> LockkeeperError:
    """What a call that ended with an error means to whoever made it."""
    return status_error(what, error.code(), error.details() or "", error.trailing_metadata())


def status_error(what: str, code: grpc.StatusCode, details: str, metadata: Any) -> LockkeeperError:
    info = ErrorInfo()
    reason = next((info.reason for detail in _status_of(metadata).details if detail.Unpack(info)), "")
    message = f"{what}: {details or code.name}"
    if not reason and code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED):
        return ServerUnavailableError(message)
    return RequestRefusedError(message, reason or code.name, code.value[0], retry_after=retry_delay(metadata))


class Over(Exception):
    """The lease is over, for a reason; what waits fails with ``error``, if there is one."""

    def __init__(self, reason: str, error: LockkeeperError | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.error = error


class Left(Exception):
    """The stream is of no more use; its server is to be left alone for so many seconds at least."""

    def __init__(self, pause: float = 0.0) -> None:
        super().__init__(pause)
        self.pause = pause


def end_of(code: grpc.StatusCode, details: str, metadata: Any, known: bool) -> Over | Left:
    """What a session stream that ended with an error means for its lease, which a server knows or not yet."""
    if code in _GONE or (code in _HOPELESS and not known):
        return Over(code.name, None if code in _GONE else status_error("the lease", code, details, metadata))
    return Left(retry_delay(metadata) or 0.0)  # any other error says nothing about the lease


def refusal(what: str, refused: session_pb2.Refused) -> RequestRefusedError:
    """What a refusal on a session stream means to whoever made the request."""
    after = to_seconds(refused.retry_after) if refused.HasField("retry_after") else None
    where = f" ({refused.field})" if refused.field else ""
    return RequestRefusedError(f"{what}: {refused.message}{where}", enum_name(refused, "reason"), refused.code, refused.field, after)


def batches(requests: list[session_pb2.SessionRequest]) -> Iterator[list[session_pb2.SessionRequest]]:
    """The same requests in their order, in batches that a server takes."""
    part: list[session_pb2.SessionRequest] = []
    size = 0
    for request in requests:
        own = request.ByteSize() + 8  # with its frame in the batch
        if part and (len(part) == _MAX_BATCH or size + own > _MAX_BYTES):
            yield part
            part, size = [], 0
        part.append(request)
        size += own
    if part:
        yield part
