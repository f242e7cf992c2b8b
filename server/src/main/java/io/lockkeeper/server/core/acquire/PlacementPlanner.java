package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.AcquireCommand.WantedLock;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.PermitsKind;
import io.lockkeeper.server.core.lock.PlannedEntry;
import io.lockkeeper.server.core.lock.ReadWriteKind;
import io.lockkeeper.server.core.queue.LockQueue;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Hold;
import io.lockkeeper.server.core.state.Lease;
import io.lockkeeper.server.core.state.Placement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Decides how each lock of a request is to be had: by a hold that its owner has, beside one, or at
 * the end of the queue; or that it cannot be had at all.
 */
public final class PlacementPlanner {

  private final CoreState core;
  private final Reentrancy reentrancy;

  /** What came of planning. */
  public sealed interface Plan {

    /**
     * It can be had.
     *
     * @param placements how, in the order of the request
     */
    record Parts(List<Placement> placements) implements Plan {}

    /**
     * It cannot be asked for.
     *
     * @param failure why
     */
    record Refused(Failure failure) implements Plan {}

    /**
     * It will not be granted, as the client must expect.
     *
     * @param ending what the client is told
     */
    record Ended(Notice.NotAcquired ending) implements Plan {

      Ended(Notice.RefusalReason reason, String message) {
        this(new Notice.NotAcquired(reason, message));
      }
    }
  }

  public PlacementPlanner(CoreState core, Reentrancy reentrancy) {
    this.core = core;
    this.reentrancy = reentrancy;
  }

  /** Plans a request under a lease that is open, or under a new one. */
  public Plan plan(AcquireCommand command, Optional<Lease> lease) {
    List<Placement> placements = new ArrayList<>(command.locks().size());
    for (WantedLock wanted : command.locks()) {
      List<Hold> owned =
          lease.isPresent()
              ? reentrancy.of(lease.get(), command.owner(), wanted.name())
              : List.of();
      // Its client may have released it at the former coordinator, and another have been granted
      // it.
      if (owned.stream().anyMatch(hold -> hold.acquisition().isUnrepeated())) {
        return new Plan.Refused(
            new Failure(
                Failure.Reason.UNAVAILABLE,
                "the owner's hold of lock '"
                    + wanted.name()
                    + "' came from another coordinator: repeat its request, or its release, first"));
      }
      Optional<Hold> base = base(wanted, owned);
      Optional<Plan> obstacle =
          base.isPresent()
              ? byCounter(wanted, base.get()).or(() -> byLevels(wanted, lease))
              : obstacle(wanted, owned, lease);
      if (obstacle.isPresent()) {
        return obstacle.get();
      }
      placements.add(base.map(hold -> beside(wanted, hold)).orElseGet(() -> queued(wanted)));
    }
    return new Plan.Parts(placements);
  }

  /**
   * Returns what the owner holds and the wanted lock may be held beside: once more in the same
   * mode, or reading beside writing.
   */
  private static Optional<Hold> base(WantedLock wanted, Collection<Hold> owned) {
    if (owned.isEmpty() || !wanted.mode().isReentrant()) {
      return Optional.empty();
    }
    // One whose entry exists, if there is one, so that nobody waits for a creation. An acquisition
    // that has ended may have lost this entry and keep others.
    return owned.stream()
        .filter(hold -> goesBeside(wanted.mode(), hold.mode()))
        .min(
            Comparator.<Hold, Boolean>comparing(hold -> !hold.acquisition().state().isLive())
                .thenComparing(hold -> !hold.acquisition().isAnswered())
                .thenComparing(hold -> !hold.mode().equals(wanted.mode())));
  }

  private static boolean goesBeside(Mode wanted, Mode held) {
    return held.equals(wanted)
        || (wanted.equals(ReadWriteKind.READ) && held.equals(ReadWriteKind.WRITE));
  }

  private static Placement beside(WantedLock wanted, Hold base) {
    return new Placement(
        new PlannedEntry(
            wanted.name(),
            wanted.mode(),
            Optional.of(new PlannedEntry.Beside(base.name(), base.token()))),
        Optional.of(base));
  }

  /**
   * Plans to go on with what a client holds by its tokens and no acquisition here is known of: its
   * owner has the holds beside which it was placed, or entries that say nothing of whose they are.
   *
   * @return how, or empty if they are not there any more
   */
  public static Optional<List<Placement>> resumed(Lease lease, AcquireCommand asked) {
    List<Placement> placements = new ArrayList<>(asked.locks().size());
    for (int i = 0; i < asked.locks().size() && i < asked.heldTokens().size(); i++) {
      WantedLock wanted = asked.locks().get(i);
      long token = asked.heldTokens().get(i);
      List<Hold> withToken =
          lease.acquisitions().values().stream()
              // What has ended keeps its entries until nobody can rely on what is beside them.
              .filter(acquisition -> acquisition.state().isLive() || acquisition.isToBeDeleted())
              .filter(acquisition -> acquisition.isNameless() || isOf(asked.owner(), acquisition))
              .flatMap(acquisition -> acquisition.hold(wanted.name()).stream())
              .filter(hold -> hold.isNamed() && hold.hasToken() && hold.token().value() == token)
              .filter(hold -> !hold.name().isStuck())
              .toList();
      base(wanted, withToken).ifPresent(hold -> placements.add(beside(wanted, hold)));
    }
    return placements.size() == asked.locks().size() ? Optional.of(placements) : Optional.empty();
  }

  private static boolean isOf(String owner, Acquisition acquisition) {
    return !owner.isEmpty() && acquisition.command().owner().equals(owner);
  }

  /** A level is an entry as well, and its owner may have any number of them. */
  private Optional<Plan> byLevels(WantedLock wanted, Optional<Lease> lease) {
    return core.mirror
        .queue(wanted.name())
        .flatMap(queue -> byPlaces(queue, queue.size(), lease))
        .map(Plan.Refused::new);
  }

  private Optional<Plan> obstacle(WantedLock wanted, List<Hold> owned, Optional<Lease> lease) {
    Optional<String> deadlock = selfDeadlock(wanted, owned);
    if (deadlock.isPresent()) {
      return Optional.of(new Plan.Ended(Notice.RefusalReason.WOULD_DEADLOCK, deadlock.get()));
    }
    Optional<String> tooLarge = tooLarge(wanted);
    if (tooLarge.isPresent()) {
      return Optional.of(new Plan.Ended(Notice.RefusalReason.LIMIT_TOO_SMALL, tooLarge.get()));
    }
    Optional<Failure> refusal = byQueue(wanted, lease);
    if (refusal.isEmpty()) {
      refusal = byLimit(wanted);
    }
    return refusal.isPresent() ? Optional.of(new Plan.Refused(refusal.get())) : Optional.empty();
  }

  private Optional<String> selfDeadlock(WantedLock wanted, List<Hold> owned) {
    if (owned.isEmpty()) {
      return Optional.empty();
    }
    String holds = "the same owner holds lock '" + wanted.name() + "' (";
    if (wanted.mode() instanceof PermitsKind.Permits permits) {
      long own = owned.stream().mapToInt(hold -> hold.mode().weight()).sum();
      int limit = PermitLimits.inForce(core, wanted.name()).orElse(Integer.MAX_VALUE);
      return own + permits.permits() <= limit || !core.mirror.isCurrent()
          ? Optional.empty()
          : Optional.of(
              holds
                  + own
                  + " permits) and asks for "
                  + permits.permits()
                  + " more of "
                  + limit
                  + ": it would wait for itself, for ever");
    }
    if (!wanted.mode().kind().equals(owned.get(0).mode().kind())) {
      return Optional.empty();
    }
    return Optional.of(
        holds
            + owned.get(0).mode()
            + ") and asks for "
            + wanted.mode()
            + ": it would wait for itself, for ever; release first");
  }

  private Optional<Failure> byQueue(WantedLock wanted, Optional<Lease> lease) {
    Optional<LockQueue> queue = core.mirror.queue(wanted.name());
    Optional<String> kind =
        queue.isPresent() && !queue.get().isEmpty()
            ? Optional.of(queue.get().first().mode().kind().name())
            : configuredKind(wanted.name());
    if (kind.isPresent() && !kind.get().equals(wanted.mode().kind().name())) {
      return Optional.of(Failure.wrongKind(wanted.name(), kind.get()));
    }
    // A client that asks and hangs up again and again leaves entries that nobody has seen still, or
    // whose deletion is owed: they are as much in the way as those in the mirror.
    int entries = Math.max(queue.map(LockQueue::size).orElse(0), core.ownEntries(wanted.name()));
    if (entries >= core.settings.maxWaiters()) {
      return Optional.of(
          new Failure(
              Failure.Reason.QUEUE_FULL,
              "the queue of lock '"
                  + wanted.name()
                  + "' has its limit of "
                  + core.settings.maxWaiters()
                  + " entries"));
    }
    return queue.flatMap(known -> byPlaces(known, entries, lease));
  }

  /** When a queue is half full, limits the entries of one account in it. */
  private Optional<Failure> byPlaces(LockQueue queue, int entries, Optional<Lease> lease) {
    if (entries < core.settings.maxWaiters() / 2) {
      return Optional.empty();
    }
    int most = core.caller.quota().queuePlaces();
    String account = lease.map(Lease::account).orElse(core.caller.account());
    if (most == Integer.MAX_VALUE || !queue.hasPlaces(account, most)) {
      return Optional.empty();
    }
    return Optional.of(
        new Failure(
            Failure.Reason.QUEUE_FULL,
            "the queue of lock '"
                + queue.lock()
                + "' is half full, and '"
                + account
                + "' has its limit of "
                + most
                + " entries there (queue-places)"));
  }

  private Optional<String> configuredKind(LockName lock) {
    return core.mirror.limit(lock).isPresent()
        ? Optional.of(new PermitsKind().name())
        : Optional.empty();
  }

  private Optional<Failure> byLimit(WantedLock wanted) {
    if (!(wanted.mode() instanceof PermitsKind.Permits permits)) {
      return Optional.empty();
    }
    boolean left = permits.limit() == PermitsKind.AS_CONFIGURED;
    if (!core.mirror.isCurrent()) {
      return left
          ? Optional.of(new Failure(Failure.Reason.UNAVAILABLE, CoreState.NO_CONTACT))
          : Optional.empty();
    }
    OptionalInt limit = PermitLimits.inForce(core, wanted.name());
    String lock = "lock '" + wanted.name() + "'";
    if (limit.isEmpty()) {
      return left
          ? Optional.of(wrongLimit(lock + " has no limit yet: name one, or configure it"))
          : Optional.empty();
    }
    if (!left && permits.limit() != limit.getAsInt()) {
      return Optional.of(
          wrongLimit(
              lock
                  + " has a limit of "
                  + limit.getAsInt()
                  + " permits, the request names "
                  + permits.limit()));
    }
    return Optional.empty();
  }

  /** The limit was left to the lock, and is below what is asked for. */
  private Optional<String> tooLarge(WantedLock wanted) {
    if (wanted.mode().capacity() != PermitsKind.AS_CONFIGURED) {
      return Optional.empty();
    }
    OptionalInt limit = PermitLimits.inForce(core, wanted.name());
    return core.mirror.isCurrent() && wanted.mode().weight() > limit.orElse(Integer.MAX_VALUE)
        ? Optional.of(
            "lock '"
                + wanted.name()
                + "' has a limit of "
                + limit.getAsInt()
                + " permits, the request asks for "
                + wanted.mode().weight())
        : Optional.empty();
  }

  private static Failure wrongLimit(String message) {
    return new Failure(Failure.Reason.WRONG_LIMIT, message);
  }

  /** Where the counter sticks, every entry has the same number, and none can be placed beside. */
  private static Optional<Plan> byCounter(WantedLock wanted, Hold base) {
    return !base.name().isStuck()
        ? Optional.empty()
        : Optional.of(
            new Plan.Refused(
                new Failure(
                    Failure.Reason.COUNTER_STUCK,
                    "lock '"
                        + wanted.name()
                        + "' cannot be held once more, nor pass from write to read: ZooKeeper's"
                        + " counter of its directory is at its end until the directory has been"
                        + " empty once; release the lock and queue for it")));
  }

  private Placement queued(WantedLock wanted) {
    Mode mode = wanted.mode();
    if (mode instanceof PermitsKind.Permits permits && core.mirror.isCurrent()) {
      mode = permits.of(PermitLimits.inForce(core, wanted.name()).orElse(permits.limit()));
    }
    return new Placement(new PlannedEntry(wanted.name(), mode, Optional.empty()), Optional.empty());
  }
}
