package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.FreezeView;
import io.lockkeeper.server.core.api.ShardEvent;
import io.lockkeeper.server.core.lock.Freeze;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.shard.Shard;
import io.lockkeeper.server.core.shard.ShardRecord;
import io.lockkeeper.server.core.shard.ShardTable;
import io.lockkeeper.server.core.shard.ShardTable.Placed;
import io.lockkeeper.server.core.shard.WrongShard;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.CoreState;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Which namespaces this ensemble serves, by the table of shards as the mirror shows it. A lock of
 * any other is *closed*: nobody new is granted it, as if it were frozen. From when the table has
 * changed until it was read, all are.
 */
public final class Shards {

  private static final int MAX_REMEMBERED = 100_000;

  private static final String BY = "lockkeeper shards";

  private final CoreState core;

  /** What counts: the newest table that was read. */
  private ShardRecord record = ShardRecord.NONE;

  private long zxid;
  private boolean read;
  private boolean changing;

  /** Whether what is there is none that counts: nobody can read it, or it is older. */
  private boolean invalid;

  private long sinceNanos;

  /**
   * Where a namespace is.
   *
   * @param to where it is on its way to, if it is
   */
  private record Place(Placed at, Optional<Shard> to) {}

  /** Where namespaces are that the table does not name: hashing takes a while. */
  private final Map<String, Place> hashed = new LinkedHashMap<>();

  public Shards(CoreState core) {
    this.core = core;
  }

  /** Returns what the ensemble says; empty while that is not known, or is none that counts. */
  public Optional<ShardRecord> record() {
    return read && !changing && core.mirror.isCurrent() ? Optional.of(record) : Optional.empty();
  }

  /** Returns what counts: the newest table that was read. */
  ShardRecord inForce() {
    return record;
  }

  /** Returns the transaction that wrote that, zero where there is no table. */
  public long writtenAt() {
    return zxid;
  }

  /** The table has changed: nobody knows what it says. */
  void changed() {
    changing = true;
    sinceNanos = core.now;
  }

  /**
   * The table was read. What is older than what was read before is none: an ensemble that has lost
   * its table would serve what others serve.
   *
   * @return what is there, where that is to be replaced by what counts
   */
  Optional<ShardRecord> read(ShardEvent.Read event) {
    read = true;
    Optional<ShardRecord> there = event.record();
    boolean older =
        there.filter(one -> one.table().version() < record.table().version()).isPresent();
    // Where nobody could read what was there before, that it has gone says nothing.
    boolean gone = invalid && there.filter(ShardRecord::isSplit).isEmpty();
    invalid = there.isEmpty() || older || gone;
    changing = invalid;
    if (!invalid) {
      zxid = event.zxid();
      take(there.orElseThrow());
    }
    return older ? there : Optional.empty();
  }

  private void take(ShardRecord now) {
    if (!now.equals(record)) {
      if (!hashesAlike(now.table(), record.table())) {
        hashed.clear();
      }
      record = now;
      sinceNanos = core.now;
    }
  }

  private static boolean hashesAlike(ShardTable one, ShardTable other) {
    return one.joining().equals(other.joining())
        && one.shards().values().stream()
            .filter(Shard::hashed)
            .toList()
            .equals(other.shards().values().stream().filter(Shard::hashed).toList());
  }

  /** Returns why the ensemble cannot be told what counts from now on, if so. */
  Optional<String> problem(ShardRecord next) {
    if (!record.isSplit()) {
      return Optional.empty();
    }
    if (!record.self().equals(next.self())
        || !record.table().service().equals(next.table().service())) {
      return Optional.of(
          "this ensemble is shard '" + record.self() + "' of its service, and no other");
    }
    return next.table().version() > record.table().version()
        ? Optional.empty()
        : Optional.of("the table of shards has version " + record.table().version() + " already");
  }

  private Placed place(String namespace) {
    return where(namespace).at();
  }

  private Place where(String namespace) {
    ShardTable table = record.table();
    Placed named = table.namespaces().get(namespace);
    if (named != null) {
      return new Place(named, table.destination(namespace));
    }
    Place known = hashed.get(namespace);
    if (known == null) {
      known = new Place(table.place(namespace).orElseThrow(), table.destination(namespace));
      if (hashed.size() >= MAX_REMEMBERED) {
        hashed.remove(hashed.keySet().iterator().next());
      }
      hashed.put(namespace, known);
    }
    return known;
  }

  private boolean isOurs(LockName lock) {
    return !record.isSplit() || place(lock.namespace()).shard().equals(record.self());
  }

  private boolean isMoving(LockName lock) {
    return where(lock.namespace()).to().isPresent();
  }

  /** Returns whether nobody new may be granted a lock. */
  boolean isClosed(LockName lock) {
    return changing || (record.isSplit() && (isMoving(lock) || !isOurs(lock)));
  }

  /** Returns why nobody new may be granted a lock, if so, unless that is known in a moment. */
  Optional<FreezeView> closing(LockName lock) {
    if (!isClosed(lock) || (changing && !invalid)) {
      return Optional.empty();
    }
    Freeze closed = new Freeze(lock.namespace(), why(lock), BY, Optional.empty());
    return Optional.of(new FreezeView(closed, core.now - sinceNanos, Optional.empty()));
  }

  private String why(LockName lock) {
    if (invalid) {
      return "the table of shards has gone, or cannot be read";
    }
    String namespace = "namespace '" + lock.namespace() + "' ";
    return where(lock.namespace())
        .to()
        .map(shard -> namespace + "is on its way to shard '" + shard.id() + "'")
        .orElseGet(
            () -> namespace + "is served by shard '" + place(lock.namespace()).shard() + "'");
  }

  /** Returns how many epochs are added to ZooKeeper's in the tokens of a lock. */
  public int tokenEpochs(LockName lock) {
    return record.isSplit() ? place(lock.namespace()).tokenEpochs() : 0;
  }

  /**
   * Returns why an acquisition can be granted no more, if so: a lock of it is closed, or its entry
   * is from before the namespace was away, and its token too low since.
   */
  Optional<String> ending(Acquisition acquisition) {
    return changing || !record.isSplit()
        ? Optional.empty()
        : acquisition.holds().stream()
            .filter(hold -> isClosed(hold.lock()) || !hold.hasTokenEpochs(tokenEpochs(hold.lock())))
            .findFirst()
            .map(hold -> isClosed(hold.lock()) ? why(hold.lock()) : "the namespace was away");
  }

  /** Returns why this shard has nothing to do with a lock, if so. */
  public Optional<Failure> refusal(LockName lock) {
    return isOurs(lock)
        ? Optional.empty()
        : Optional.of(Failure.elsewhere(elsewhere(lock.namespace())));
  }

  private WrongShard elsewhere(String namespace) {
    ShardTable table = record.table();
    return new WrongShard(namespace, table.shard(place(namespace).shard()), table.version());
  }

  /** The same for what begins with a prefix, if that names a namespace. */
  public Optional<Failure> refusal(String prefix) {
    return namespace(prefix).flatMap(this::refusal);
  }

  /** The same for a freeze: where its namespace is on its way, it would stay behind. */
  public Optional<Failure> freezeRefusal(String prefix) {
    return refusal(prefix).or(() -> namespace(prefix).flatMap(this::moving));
  }

  private static Optional<LockName> namespace(String prefix) {
    int slash = prefix.indexOf('/');
    return slash > 0 && LockName.problemOf(prefix.substring(0, slash)).isEmpty()
        ? Optional.of(new LockName(prefix.substring(0, slash)))
        : Optional.empty();
  }

  /** Returns why this shard has nothing to do with a request, if so. */
  public Optional<Failure> refusal(AcquireCommand command) {
    if (!record.isSplit()) {
      return Optional.empty();
    }
    LockName first = command.locks().get(0).name();
    String shard = place(first.namespace()).shard();
    for (AcquireCommand.WantedLock wanted : command.locks()) {
      String other = place(wanted.name().namespace()).shard();
      if (!other.equals(shard)) {
        return Optional.of(
            new Failure(
                Failure.Reason.ACROSS_SHARDS,
                String.format(
                    "lock '%s' is of shard '%s' and lock '%s' of shard '%s': no transaction spans both,"
                        + " ask for them one by one",
                    first, shard, wanted.name(), other)));
      }
    }
    return refusal(first);
  }

  /** Returns what to say of a request for a lock that nobody new may be granted, if it is one. */
  public Optional<Failure> moving(AcquireCommand command) {
    return record.isSplit()
        ? command.locks().stream()
            .map(AcquireCommand.WantedLock::name)
            .flatMap(lock -> moving(lock).stream())
            .findFirst()
        : Optional.empty();
  }

  private Optional<Failure> moving(LockName lock) {
    return record.isSplit() && isMoving(lock)
        ? Optional.of(new Failure(Failure.Reason.NAMESPACE_MOVING, why(lock)))
        : Optional.empty();
  }

  /**
   * Returns why the limit of a lock cannot be set here, if so. Where its namespace is on its way to
   * this shard it can, and not where it comes from: limits are there before the first request.
   */
  public Optional<Failure> limitRefusal(LockName lock) {
    if (!record.isSplit()) {
      return Optional.empty();
    }
    Optional<Shard> to = where(lock.namespace()).to();
    if (to.filter(shard -> shard.id().equals(record.self())).isPresent()) {
      return Optional.empty();
    }
    return refusal(lock).or(() -> moving(lock));
  }
}
