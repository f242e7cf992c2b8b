package io.lockkeeper.server.core;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Promises;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.SessionEvent.AdoptedEntry;
import io.lockkeeper.server.core.api.SessionEvent.AdoptedLease;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryTerms;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.core.simulation.Wish;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * What a coordinator leaves behind on one lock session, and its adoption by the one on the bench.
 */
final class Inheritance {

  static final String CLAIM = "0000000000000001";

  /** The tag of the account that guards count for: no record says more of it. */
  static final String TAG = AccountTag.of("10.0.0.7");

  private final Bench bench;
  private final List<AdoptedLease> leases = new ArrayList<>();
  private final List<AdoptedEntry> entries = new ArrayList<>();
  private Optional<Promises> promises = Optional.empty();
  private Duration pause = Duration.ZERO;
  private long numbers = 1_000;

  Inheritance(Bench bench) {
    this.bench = bench;
  }

  /** A lease with a record. Its secret's hash is "hash". */
  LeaseId lease() {
    return record(leaseWithoutRecord());
  }

  /** The record of a lease. */
  LeaseId record(LeaseId lease) {
    leases.add(new AdoptedLease(lease, Bench.TTL.toMillis(), "tester", "hash", ""));
    return lease;
  }

  LeaseId leaseWithoutRecord() {
    numbers++;
    return new LeaseId(numbers << 32, numbers);
  }

  /** The entries of one request, which the mirror sees; returns their tokens. */
  List<Long> entries(LeaseId lease, Wish wish) {
    return entries(lease, wish, false);
  }

  List<Long> entries(LeaseId lease, Wish wish, boolean stream) {
    return entries(lease, wish, details(lease, wish, stream), Optional.empty());
  }

  /**
   * The entries of a request of an owner that held some of the locks once more: those are beside
   * the entries of another request.
   *
   * @return their tokens
   */
  List<Long> level(LeaseId lease, Wish wish, Wish beside) {
    String base = beside.command(Optional.of(lease)).requestId();
    return entries(lease, wish, details(lease, wish, false), Optional.of(base));
  }

  /** The entries of a request whose notices go to a stream of its own. */
  List<Long> entriesOfAnOwnStream(LeaseId lease, Wish wish) {
    EntryDetails details = details(lease, wish.command(Optional.of(lease)), false, true);
    return entries(lease, wish, details, Optional.empty());
  }

  private static EntryDetails details(LeaseId lease, Wish wish, boolean stream) {
    return details(lease, wish.command(Optional.of(lease)), stream);
  }

  private List<Long> entries(
      LeaseId lease, Wish wish, EntryDetails details, Optional<String> base) {
    AcquireCommand command = wish.command(Optional.of(lease));
    UUID id = new UUID(lease.high(), ++numbers);
    List<Long> tokens = new ArrayList<>();
    for (AcquireCommand.WantedLock wanted : command.locks()) {
      Optional<AdoptedEntry> beside = base.flatMap(named -> entry(wanted.name(), named));
      StoreEvent.CreatedEntry created =
          beside.isPresent()
              ? bench.foreignBeside(beside.get().name(), wanted.name(), id, wanted.mode())
              : bench.foreign(wanted.name().value(), id, wanted.mode());
      Optional<FencingToken> kept = beside.map(entry -> entry.read().token());
      tokens.add(add(created, details, tokens.size(), kept));
      if (!command.lockDelay().isZero()) {
        MarkerName guard = MarkerName.Guard.of(id, (int) command.lockDelay().toMillis(), TAG);
        bench.on(new StoreEvent.MarkerAppeared(wanted.name(), guard, created.czxid()));
      }
    }
    return tokens;
  }

  private Optional<AdoptedEntry> entry(LockName lock, String requestId) {
    return entries.stream()
        .filter(entry -> entry.lock().equals(lock))
        .filter(entry -> entry.read().details().requestId().equals(requestId))
        .findFirst();
  }

  /** The name of a request's entry in a lock, which the mirror has seen. */
  StoreEvent.CreatedEntry created(String lock, String requestId) {
    AdoptedEntry entry = entry(new LockName(lock), requestId).orElseThrow();
    return new StoreEvent.CreatedEntry(
        entry.lock(), entry.name(), entry.read().czxid(), entry.read().index());
  }

  /** Somebody removes a request's entry before the session is taken. */
  void remove(String lock, String requestId) {
    bench.vanish(created(lock, requestId));
    entries.remove(entry(new LockName(lock), requestId).orElseThrow());
  }

  /** Somebody writes over what a request's entry says, before the session is taken. */
  void overwrite(String lock, String requestId) {
    AdoptedEntry entry = entry(new LockName(lock), requestId).orElseThrow();
    StoreEvent.ReadEntry read =
        new StoreEvent.ReadEntry(
            EntryDetails.foreign("", Optional.empty()),
            entry.read().czxid(),
            0,
            0,
            Optional.empty());
    entries.set(entries.indexOf(entry), new AdoptedEntry(entry.lock(), entry.name(), read));
  }

  /** ZooKeeper lists the entries in another order than that of their requests. */
  void listBackwards() {
    Collections.reverse(entries);
  }

  /** An entry that the adopted session owns, whatever it says of itself. */
  long add(StoreEvent.CreatedEntry created, EntryDetails details) {
    return add(created, details, 0, Optional.empty());
  }

  private long add(
      StoreEvent.CreatedEntry created,
      EntryDetails details,
      int ordinal,
      Optional<FencingToken> kept) {
    StoreEvent.ReadEntry read =
        new StoreEvent.ReadEntry(details, created.czxid(), created.index(), ordinal, kept);
    entries.add(new AdoptedEntry(created.lock(), created.name(), read));
    return read.token().value();
  }

  static EntryDetails details(LeaseId lease, AcquireCommand command, boolean stream) {
    return details(lease, command, stream, false);
  }

  private static EntryDetails details(
      LeaseId lease, AcquireCommand command, boolean stream, boolean ownStream) {
    return new EntryDetails(
        lease.toString(),
        command.requestId(),
        command.owner(),
        "tester",
        Map.of(),
        stream,
        command.unsearched(),
        Optional.empty(),
        Optional.empty(),
        new EntryTerms(
            command.locks().size(),
            command.waitTimeout(),
            command.maxHold(),
            command.lockDelay(),
            TAG,
            ownStream));
  }

  /** The coordinator on the bench adopts it; the one before may live. */
  SessionKey take() {
    return take(false);
  }

  /**
   * The coordinator on the bench adopts it.
   *
   * @param certain whether the one before is dead for certain
   */
  SessionKey take(boolean certain) {
    SessionKey key = claim();
    adoptedAs(key, certain);
    passBarriers();
    return key;
  }

  /** The coordinator before has left in good order, and has recorded this. */
  void leftWith(Promises recorded) {
    promises = Optional.of(recorded);
  }

  /** The coordinator on the bench is paused for that long after it has taken the claim. */
  void pauseFor(Duration time) {
    pause = time;
  }

  /** The store has taken stock of the session; no barrier has passed yet. */
  void adoptedAs(SessionKey key, boolean certain) {
    bench.on(
        new SessionEvent.SessionAdopted(
            key,
            2,
            Bench.TIMEOUT.toNanos(),
            bench.now,
            bench.now,
            bench.now - pause.toNanos(),
            certain,
            promises,
            leases,
            entries));
  }

  /** The coordinator on the bench wants the session. */
  SessionKey claim() {
    bench.on(new SessionEvent.OrphanFound(CLAIM));
    return bench.last(StoreEffect.AdoptSession.class).get(0).session();
  }

  void passBarriers() {
    bench
        .all(StoreEffect.Barrier.class)
        .forEach(barrier -> bench.on(new StoreEvent.BarrierPassed(barrier.barrier())));
  }
}
