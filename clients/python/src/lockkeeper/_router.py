"""Finds the shard that serves a request: from the servers that the client was given to those that they name."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Iterable
from dataclasses import dataclass

from lockkeeper._clock import backoff, now
from lockkeeper._connection import Connection
from lockkeeper._lease import ANSWERING, Lease
from lockkeeper._messages import WrongShardError
from lockkeeper._settings import Settings
from lockkeeper._shards import MOST_NAMESPACES, MOST_SHARDS, Shard, Table, namespace_of
from lockkeeper._transport import Servers, Target
from lockkeeper.errors import ClosedError, LockkeeperError, RequestRefusedError
from lockkeeper.v1 import shard_service_pb2 as shards_pb

LOG = logging.getLogger("lockkeeper")
_GET_SHARDS = "/lockkeeper.v1.ShardService/GetShards"
_CHANGING = 1.0  # seconds until a table that is being changed is looked at again, at least
_AT_ONCE = 2  # refusals that are followed without a pause, also by who may not wait
_FAILED_PRECONDITION = 9


class Ensemble:
    """One shard as this client uses it: a lease, opened with the first request, and a connection for calls."""

    def __init__(self, settings: Settings, targets: tuple[Target, ...], first: int) -> None:
        self._settings = settings
        self._targets = targets
        self._servers = Servers(targets, first)
        self.connection = Connection(targets, first, settings.transport)
        self.lease: Lease | None = None

    @property
    def is_unused(self) -> bool:
        """Whether nothing goes on there."""
        return self.lease is None and self.connection.is_unused

    def begin_lease(self) -> Lease:
        """Another lease; there was none, or it has ended."""
        lease = self.lease = Lease(self._settings, self._servers, self._on_over)
        return lease

    def _on_over(self, lease: Lease) -> None:
        if self.lease is lease:
            self.lease = None

    def move_to(self, targets: tuple[Target, ...]) -> None:
        """The shard's servers are others now. Streams and calls that are open stay where they are."""
        if targets != self._targets:
            self._targets = targets
            self._servers.replace(targets)
            self.connection.servers.replace(targets)


@dataclass
class Trip:
    """A request or a call on its way over shards. ``until`` is when its caller's time is over, by the client's clock.

    ``refusals`` counts how often in a row another shard was said to serve it; ``moves`` how often it has lost its place by a move.
    """

    names: tuple[str, ...]
    until: float
    ensemble: Ensemble
    refusals: int = 0
    moves: int = 0


class Router:
    """The shards of one client. As long as none refuses a request as that of another shard, all go to the servers that were given.

    It is what outlives a client that nobody has closed.
    """

    def __init__(self, settings: Settings, targets: tuple[Target, ...], first: int) -> None:
        self._settings = settings
        self.home = Ensemble(settings, targets, first)
        self._home_id = ""  # the id of the shard at the servers that were given, as they say
        self._ensembles: dict[str, Ensemble] = {}  # the others, by id, each from its first use on
        self._table: Table | None = None
        self._hints: dict[str, tuple[int, Shard]] = {}  # by namespace, what servers say that the table does not; at most 10,000
        self._asking: tuple[Ensemble, asyncio.Task[None]] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._between = 0
        self._end = asyncio.Event()  # for those who pause
        self.closed = False

    @property
    def lease(self) -> Lease | None:
        """The lease at the servers that were given."""
        return self.home.lease

    @property
    def size(self) -> int:
        """How many requests and locks there are, at all shards and between them."""
        home = self.home.lease
        size = self._between + (home.size if home is not None else 0)
        for ensemble in self._ensembles.values():
            size += ensemble.lease.size if ensemble.lease is not None else 0
        return size

    def open_lease(self, ensemble: Ensemble) -> Lease:
        """The lease of a shard; another one, if it has ended.

        Raises:
            ClosedError: the client was closed.
        """
        self._check_open()
        lease = ensemble.lease
        if lease is None or lease.has_ended():
            self._loop = asyncio.get_running_loop()
            lease = ensemble.begin_lease()
        return lease

    # Which shard serves what.

    def ensemble_of(self, names: Iterable[str]) -> Ensemble:
        """Where locks are, as far as is known.

        Raises:
            RequestRefusedError: they are of several shards (``ACROSS_SHARDS``).
            ClosedError: the client was closed.
        """
        if self._table is None and not self._hints:
            return self.home
        ensembles = {namespace: self._serving(namespace) for namespace in map(namespace_of, names)}
        if self._table is None:  # nobody knows of the others
            return next((ensemble for ensemble in ensembles.values() if ensemble is not self.home), self.home)
        (first, ensemble), *others = ensembles.items()
        for other, there in others:
            if there is not ensemble:
                message = f'"{first}" and "{other}" are of different shards, which no request spans'
                raise RequestRefusedError(message, "ACROSS_SHARDS", _FAILED_PRECONDITION)
        return ensemble

    def ensemble_below(self, prefix: str) -> Ensemble:
        """Where the locks below a prefix are: a whole namespace is at its shard, all else at the servers that were given."""
        return self.ensemble_of([prefix]) if "/" in prefix else self.home

    def _serving(self, namespace: str) -> Ensemble:
        shard = self._shard_of(namespace)
        if shard is None or shard.id == self._home_id:
            return self.home
        return self._ensembles.get(shard.id) or self._begin(shard)

    def _shard_of(self, namespace: str) -> Shard | None:
        if namespace in self._hints:
            return self._hints[namespace][1]
        return None if self._table is None else self._table.shard_of(namespace)

    def _begin(self, shard: Shard) -> Ensemble:
        """The first use of a shard. Where there are very many, those where nothing goes on are forgotten."""
        self._check_open()
        if len(self._ensembles) >= MOST_SHARDS:
            self._ensembles = {each: ensemble for each, ensemble in self._ensembles.items() if not ensemble.is_unused}
        ensemble = self._ensembles[shard.id] = Ensemble(self._settings, shard.targets, random.randrange(len(shard.targets)))
        return ensemble

    # From one shard to another.

    async def follow(self, trip: Trip, error: LockkeeperError) -> bool:
        """Finds out where a request goes on that ended so (`is_elsewhere`), and waits if it must.

        Returns False if that would take longer than its caller waits. Two refusals are followed in any case, so that who may not wait is
        asked for at another shard, too.

        Raises:
            LockkeeperError: the same error; nobody knows where to ask. Or the locks are of several shards (``ACROSS_SHARDS``).
            ClosedError: the client was closed.
        """
        self._check_open()
        self._between += 1
        try:
            if isinstance(error, WrongShardError):
                trip.refusals += 1
                await self._learn(trip, error.wrong)
                pause = self._pause(trip, error)
            else:
                trip.refusals, trip.moves = 0, trip.moves + 1
                pause = backoff(trip.moves) if trip.moves > 1 else 0.0
            at_once = isinstance(error, WrongShardError) and not pause
            if not at_once and now() + pause >= trip.until:
                return False
            await self._sleep(pause)
            trip.ensemble = self.ensemble_of(trip.names)
            return True
        finally:
            self._between -= 1

    def _pause(self, trip: Trip, error: WrongShardError) -> float:
        """How long to wait before a refusal is followed."""
        if self._table is None and error.wrong.namespace not in self._hints:
            raise error
        if trip.refusals > _AT_ONCE or self.ensemble_of(trip.names) is trip.ensemble:
            return _CHANGING * random.uniform(1.0, 1.5)
        return 0.0

    async def _sleep(self, pause: float) -> None:
        if pause:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._end.wait(), pause)
        self._check_open()

    def _check_open(self) -> None:
        if self.closed:
            raise ClosedError("the client was closed")

    # The table.

    async def _learn(self, trip: Trip, wrong: shards_pb.WrongShard) -> None:
        """Asks the servers that refused for the table, if theirs is newer. Without it their word counts, if it is as new."""
        timeout = self._settings.request_timeout
        limit = min(now() + timeout, max(now(), trip.until) + min(ANSWERING, timeout))
        asked: Ensemble | None = None
        while asked is not trip.ensemble and self._is_older_than(wrong.table_version):
            if self._asking is None:
                self._asking = trip.ensemble, asyncio.get_running_loop().create_task(self._ask(trip.ensemble), name="lockkeeper-table")
            asked, task = self._asking
            done, _ = await asyncio.wait({task}, timeout=max(0.0, limit - now()))
            self._check_open()
            if not done:
                break
        shard = self._shard_of(wrong.namespace)
        # Of the same version, too: a table comes without the namespaces on which the client had no right then.
        if self._is_older_than(wrong.table_version + 1) and (shard is None or shard.id != wrong.shard.id):
            self._take_hint(wrong)

    def _is_older_than(self, version: int) -> bool:
        return self._table is None or self._table.version < version

    async def _ask(self, ensemble: Ensemble) -> None:
        """One table request. Who the servers are that were given must be known, too, as soon as there is a table."""
        try:
            await self._get_shards(ensemble)
            if not self._home_id and ensemble is not self.home:
                await self._get_shards(self.home)
        except Exception as error:  # a table that cannot be read, too
            if not self.closed:
                LOG.warning("the table of shards cannot be had: %s", error)
        finally:
            self._asking = None

    async def _get_shards(self, ensemble: Ensemble) -> None:
        limit = now() + self._settings.request_timeout
        request = shards_pb.GetShardsRequest()
        response = await ensemble.connection.call(_GET_SHARDS, "GetShards", request, shards_pb.GetShardsResponse, limit)
        if ensemble is self.home and response.self:
            self._home_id = response.self
        if self._is_older_than(response.table.version) and response.table.version > 0:
            self._take(Table.of(response.table))

    def _take(self, table: Table) -> None:
        """It is newer than what was known."""
        self._table = table
        self._hints = {namespace: hint for namespace, hint in self._hints.items() if hint[0] > table.version}
        for shard_id, ensemble in self._ensembles.items():
            if shard_id in table.shards:
                ensemble.move_to(table.shards[shard_id].targets)

    def _take_hint(self, wrong: shards_pb.WrongShard) -> None:
        """No table that is newer says who serves this namespace: a server's word counts, the newer one of two."""
        try:
            shard = Shard.of(wrong.shard)
        except ValueError as error:
            LOG.warning("%s", error)
            return
        known = self._hints.pop(wrong.namespace, None)
        if known is not None and known[0] > wrong.table_version:
            self._hints[wrong.namespace] = known
            return
        if len(self._hints) >= MOST_NAMESPACES:
            del self._hints[next(iter(self._hints))]
        self._hints[wrong.namespace] = (wrong.table_version, shard)
        if shard.id in self._ensembles:
            self._ensembles[shard.id].move_to(shard.targets)

    # The end.

    def _all(self) -> list[Ensemble]:
        return [self.home, *self._ensembles.values()]

    async def close(self) -> None:
        """Ends all leases, with all that they hold, and lets go of the servers."""
        self.closed = True
        self._end.set()
        asking = set() if self._asking is None else {self._asking[1]}
        for task in asking:
            task.cancel()
        ensembles = self._all()
        leases = [ensemble.lease for ensemble in ensembles if ensemble.lease is not None]
        for ensemble in ensembles:
            ensemble.lease = None
        await asyncio.gather(*(lease.close() for lease in leases))
        await asyncio.gather(*(ensemble.connection.close() for ensemble in ensembles), *asking, return_exceptions=True)

    def abandon(self) -> None:
        """Nobody is there any more who could close it."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._abandon)

    def _abandon(self) -> None:
        for ensemble in self._all():
            if ensemble.lease is not None:
                ensemble.lease.abandon()
