"""The client for programs with threads: the one for asyncio, on an event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import inspect
import os
import threading
import weakref
from collections.abc import Callable, Coroutine, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from lockkeeper.aio import AsyncClient, AsyncLock, Listener, Locks
from lockkeeper.election import Leader
from lockkeeper.errors import ClosedError, LockLostError
from lockkeeper.events import Contender, Grant, LockInfo, ReleaseResult
from lockkeeper.requests import LockOptions
from lockkeeper.watching import WatchEvent

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")
L = TypeVar("L", AsyncLock, "AsyncLock | None")
_AT_EXIT = 2.0  # seconds for what is open when the program ends


class _Loop:
    """An event loop in a daemon thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._guard = threading.Lock()
        self._stopping = False
        self._thread = threading.Thread(target=self.loop.run_forever, name="lockkeeper", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """Runs a coroutine there and waits for it; an interrupt of the wait cancels it."""
        if threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError("a callback must not wait: it would wait for itself")
        with self._guard:
            if self._stopping:
                work.close()
                raise ClosedError("the client is closed")
            future = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return future.result(timeout)
        except concurrent.futures.CancelledError:
            raise ClosedError("the client was closed") from None
        except BaseException:
            future.cancel()
            raise

    def stop(self, last: Coroutine[Any, Any, None], timeout: float) -> None:
        """Runs the last coroutine, and ends the thread; waits for that, unless it is that thread."""

        async def end() -> None:
            try:
                await asyncio.wait_for(last, timeout)
            finally:  # nobody may wait for a loop that has stopped
                left = asyncio.all_tasks() - {asyncio.current_task()}
                for task in left:
                    task.cancel()
                if left:
                    await asyncio.wait(left, timeout=1.0)
                await asyncio.sleep(0.02)  # for what gRPC tells the loop of connections that are closed

        with self._guard:
            self._stopping = True
            future = asyncio.run_coroutine_threadsafe(end(), self.loop)
        future.add_done_callback(lambda _: self.loop.call_soon_threadsafe(self.loop.stop))
        if threading.current_thread() is not self._thread:
            with contextlib.suppress(Exception):
                future.result(timeout + 2.0)
            self._thread.join(1.0)
            if not self._thread.is_alive():
                self.loop.close()


class Lock:
    """Locks that are held, or were: see `AsyncLock`. May be used by any thread."""

    def __init__(self, client: Client, lock: AsyncLock) -> None:
        self._client = client
        self._lock = lock

    @property
    def name(self) -> str:
        """The lock's name; of several, the first one's."""
        return self._lock.name

    @property
    def grants(self) -> tuple[Grant, ...]:
        """The proof for each lock, in the order of the request."""
        return self._lock.grants

    @property
    def fencing_token(self) -> int:
        """Above zero, and higher than that of any holder before. Of several locks, the first one's."""
        return self._lock.fencing_token

    @property
    def previous_end(self) -> str:
        """How the holder before this one ended; of several locks, the first one's."""
        return self._lock.previous_end

    @property
    def is_valid(self) -> bool:
        """Whether the locks may be used now. Looks at the clock, and asks nobody."""
        return self._lock.is_valid

    @property
    def remaining(self) -> float:
        """For how many seconds the locks may be used without another answer of a server; 0: not at all."""
        return self._lock.remaining

    @property
    def lost_reason(self) -> str | None:
        """Why the locks were lost; None: they were not."""
        return self._lock.lost_reason

    def check(self) -> None:
        """Returns if the locks may be used now; errors are those of `AsyncLock.check`."""
        self._lock.check()

    def wait_lost(self, timeout: float | None = None) -> str | None:
        """Waits until the locks are lost, and returns why; None: they were not within ``timeout`` seconds."""
        try:
            return self._client._run(asyncio.wait_for(self._lock.wait_lost(), timeout))
        except (asyncio.TimeoutError, concurrent.futures.TimeoutError):
            return None

    def update_metadata(self, metadata: Mapping[str, str]) -> None:
        """Replaces the metadata; errors are those of `AsyncLock.update_metadata`."""
        self._client._run(self._lock.update_metadata(metadata))

    def answer_release(self, needs: float) -> None:
        """Says for how many seconds the locks are still needed; errors are those of `AsyncLock.answer_release`."""
        self._client._run(self._lock.answer_release(needs))

    def release(self) -> ReleaseResult:
        """Releases the locks, and waits until that is certain, for the request timeout at most. Does not raise for locks that were lost."""
        return self._client._run(self._lock.release())

    def __enter__(self) -> Lock:
        self.check()
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: TracebackType | None) -> None:
        reason = self.lost_reason
        with contextlib.suppress(ClosedError):  # nothing is held then
            self.release()
        if reason is not None and error is None:
            raise LockLostError(f'"{self.name}": the lock was lost: {reason}', reason)

    def __repr__(self) -> str:
        return repr(self._lock).replace("AsyncLock", "Lock")


class Client:
    """A client that blocks: all methods may be called by any thread, and wait there.

    Make one per process and share it::

        with Client("lock1:7420,lock2:7420") as client:
            with client.lock("orders/42") as lock:
                stock.decrement(item, lock.fencing_token)

    Arguments, rules and errors are those of `AsyncClient`. A Ctrl-C while it waits withdraws the request. Callbacks of a `Listener` run
    in the client's own thread: they must not block, nor call the client.
    """

    def __init__(self, servers: str, **options: Any) -> None:
        self._client = AsyncClient(servers, **options)
        self._loop = _Loop()
        self._pid = os.getpid()
        self._closed = False
        self._guard = threading.Lock()
        self._finalizer = weakref.finalize(self, _stop, self._loop, self._client, self._pid)

    def lock(self, locks: Locks, *, listener: Listener | None = None, **options: Unpack[LockOptions]) -> Lock:
        """Acquires locks, waiting as long as ``wait`` says; the lock is a context manager. Errors are those of `AsyncClient.acquire`."""
        return Lock(self, self._take(lambda: self._client.acquire(locks, listener=listener, **options)))

    def try_lock(self, locks: Locks, *, listener: Listener | None = None, **options: Unpack[LockOptions]) -> Lock | None:
        """Acquires locks if that is possible within ``wait`` seconds, 0 if it is not given; None if not."""
        lock = self._take(lambda: self._client.try_lock(locks, listener=listener, **options))
        return None if lock is None else Lock(self, lock)

    def lead(self, name: str, value: str, task: Callable[[Lock], T]) -> T:
        """Leads whenever this candidate is elected, until the task is done: see `AsyncElection.run`.

        The task runs in the calling thread, and cannot be cancelled: it must look at `Lock.is_valid` between its steps. When it returns
        without the leadership, the candidate goes back to the queue.
        """
        terms = self._client.election(name).terms(value)
        while True:
            leadership = self._take(terms.elected)
            try:
                with Lock(self, leadership) as lock:
                    result = task(lock)
                    if inspect.isawaitable(result):
                        raise TypeError("the task of Client.lead must be a function; AsyncElection.run awaits one")
                    return result
            except LockLostError:
                if leadership.lost_reason is None:
                    raise  # another lock of the task's
                self._run(terms.lost(leadership))

    def leader(self, name: str) -> Leader | None:
        """Who leads now, as a server sees it; None: nobody."""
        return self._run(self._client.election(name).leader())

    def get_lock(self, name: str, *, queue_limit: int = 100) -> LockInfo:
        """Who holds a lock, and who waits for it."""
        return self._run(self._client.get_lock(name, queue_limit=queue_limit))

    def list_locks(self, prefix: str = "") -> Iterator[LockInfo]:
        """The locks in use, ordered by name."""
        return self._iterate(self._client.list_locks(prefix))

    def check_token(self, name: str, fencing_token: int) -> bool:
        """Whether a token is that of a current holder, after a write through ZooKeeper's quorum."""
        return self._run(self._client.check_token(name, fencing_token))

    def request_release(self, name: str, reason: str = "", *, deadline: float | None = None) -> tuple[Contender, ...]:
        """Asks the holders of a lock to give way, and returns who was asked."""
        return self._run(self._client.request_release(name, reason, deadline=deadline))

    def configure_lock(self, name: str, limit: int) -> int:
        """Sets the limit of a lock of permits; 0 takes the setting back. Returns the one before."""
        return self._run(self._client.configure_lock(name, limit))

    def watch(self, *names: str, prefix: str | None = None) -> Iterator[WatchEvent]:
        """The state of locks, and then every change, until the iterator is closed: see `AsyncClient.watch`."""
        return self._iterate(self._client.watch(*names, prefix=prefix))

    @property
    def lease_tag(self) -> str:
        """The public short name of the lease, as others see it; empty before the first lock."""
        return self._client.lease_tag

    def close(self) -> None:
        """Ends the lease with all that it holds, and the client's thread. Idempotent."""
        with self._guard:
            if not self._closed:
                self._closed = True
                self._finalizer.detach()
                if self._pid == os.getpid():
                    self._loop.stop(self._client.close(), 15.0)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._pid != os.getpid():
            work.close()
            raise ClosedError("the client belongs to the process that has forked: make one in each process")
        if self._closed:
            work.close()
            raise ClosedError("the client is closed")
        return self._loop.run(work)

    def _take(self, acquire: Callable[[], Coroutine[Any, Any, L]]) -> L:
        """Acquires locks. Where an interrupt crosses the grant, nobody gets them, and they are released."""
        taken: list[L] = []

        async def take() -> L:
            taken.append(await acquire())
            return taken[0]

        def let_go() -> None:
            for lock in taken:
                if lock is not None:
                    lock._lease.release(lock._acquisition)

        try:
            return self._run(take())
        except BaseException:
            if not self._closed and self._pid == os.getpid():
                self._loop.loop.call_soon_threadsafe(let_go)
            raise

    def _iterate(self, source: Any) -> Iterator[Any]:
        try:
            while True:
                try:
                    yield self._run(source.__anext__())
                except StopAsyncIteration:
                    return
        finally:
            if not self._closed:
                with contextlib.suppress(RuntimeError):  # it still ends the step that was interrupted, and then itself
                    self._run(source.aclose())


def _stop(loop: _Loop, client: AsyncClient, pid: int) -> None:
    """Nobody has closed the client: it was forgotten, or the program ends."""
    if pid == os.getpid():
        loop.stop(client.close(), _AT_EXIT)
