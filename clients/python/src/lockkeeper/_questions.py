"""What a session stream asks and hears the answer to once, and repeats on the next stream until it does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from lockkeeper.errors import LockkeeperError, ServerUnavailableError
from lockkeeper.v1 import session_pb2


class Questions:
    """Questions of one lease about locks that are held, of the kinds ``update_metadata`` and ``answer_release``."""

    def __init__(self, send: Callable[[session_pb2.SessionRequest], None], timeout: float) -> None:
        self._send = send
        self._timeout = timeout
        self._open: list[tuple[str, session_pb2.SessionRequest, asyncio.Future[None]]] = []

    async def ask(self, kind: str, request: session_pb2.SessionRequest) -> None:
        """Fails when the timeout is over, or the lease is."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._open.append((kind, request, done))
        self._send(request)
        try:
            await asyncio.wait_for(done, self._timeout)
        except asyncio.TimeoutError:
            raise ServerUnavailableError(f"{kind}: no server has answered in time") from None

    def on_answer(self, kind: str, request_id: str, error: LockkeeperError | None = None) -> None:
        """A server has answered, or refused, the oldest such question, even if nobody waits for that any more."""
        for question in self._open:
            asked, request, done = question
            if asked == kind and getattr(request, kind).request_id == request_id:
                self._open.remove(question)
                if not done.done():
                    done.set_result(None) if error is None else done.set_exception(error)
                return

    def repeat(self) -> None:
        """There is another stream."""
        self._open = [question for question in self._open if not question[2].done()]
        for _, request, _ in self._open:
            self._send(request)

    def fail(self, error: LockkeeperError) -> None:
        """The lease is over."""
        for _, _, done in self._open:
            if not done.done():
                done.set_exception(error)
