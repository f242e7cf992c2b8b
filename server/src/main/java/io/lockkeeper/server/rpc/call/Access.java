package io.lockkeeper.server.rpc.call;

import io.grpc.Context;
import io.lockkeeper.server.coordinator.api.VisibleLocks;
import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Caller;
import io.lockkeeper.server.core.api.Quota;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.ReadWriteKind;
import io.lockkeeper.server.rpc.wire.DeniedException;
import io.lockkeeper.server.rpc.wire.Fields;
import io.lockkeeper.server.rpc.wire.InvalidRequestException;
import io.lockkeeper.server.rpc.wire.OverLimitException;
import io.lockkeeper.server.rpc.wire.Refusal;
import io.lockkeeper.server.rpc.wire.Statuses;
import io.lockkeeper.server.security.Audit;
import io.lockkeeper.server.security.Authority;
import io.lockkeeper.server.security.Identity;
import io.lockkeeper.server.security.Limits;
import io.lockkeeper.server.security.Right;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Who makes a call, and what he may do. Asks the policy anew each time: it may have changed. */
public final class Access {

  private static final Context.Key<Access> KEY = Context.key("access");

  /** Half the interval between two keep-alives of the shortest lease. */
  private static final long MAX_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private final Identity identity;
  private final String peer;
  private final String rpc;
  private final AccessRules rules;
  private final Usage.Account usage;
  private final Caller caller;
  // Zero, or after how many nanoseconds the call itself, which was beyond the limit, would be
  // taken.
  private volatile long callWait;
  // After how many nanoseconds the requests of a stream that were rejected since its last pause
  // would have been accepted, in sum.
  private final AtomicLong rejectedNanos = new AtomicLong();

  /**
   * Makes one.
   *
   * @param peer from where he calls: address and port
   * @param rpc what he calls
   * @param usage what is counted for him
   */
  public Access(
      Identity identity, String peer, String rpc, AccessRules rules, Usage.Account usage) {
    this.identity = identity;
    this.peer = peer;
    this.rpc = rpc;
    this.rules = rules;
    this.usage = usage;
    this.caller =
        new Caller(
            identity.isAnonymous() ? "" : identity.name(),
            false,
            usage.name(),
            new PolicyQuota(rules.authority(), identity));
  }

  /** The limits that the policy sets, as the core asks for them. */
  private record PolicyQuota(Authority authority, Identity identity) implements Quota {
    @Override
    public int leases() {
      return authority.limitsOf(identity).leases();
    }

    @Override
    public int acquisitions() {
      return authority.limitsOf(identity).acquisitions();
    }

    @Override
    public long entryBytes() {
      return authority.limitsOf(identity).entryBytes();
    }

    @Override
    public long pathBytes() {
      return authority.limitsOf(identity).pathBytes();
    }

    @Override
    public int freezes() {
      return authority.limitsOf(identity).freezes();
    }

    @Override
    public int queuePlaces() {
      return authority.limitsOf(identity).queuePlaces();
    }

    @Override
    public int acquisitionsIn(String namespace) {
      return authority.maxAcquisitionsOf(namespace);
    }
  }

  /**
   * Returns that of the current call.
   *
   * @throws IllegalStateException outside of calls
   */
  public static Access current() {
    Access access = KEY.get();
    if (access == null) {
      throw new IllegalStateException("not in a call");
    }
    return access;
  }

  /**
   * Returns that of the current call, which must keep the limit of requests.
   *
   * @throws OverLimitException if the caller makes too many
   */
  public static Access requesting() {
    Access access = current();
    access.requireRate();
    return access;
  }

  /**
   * Returns that of the current call, which makes much work.
   *
   * @param weight as how many requests it counts
   * @throws OverLimitException if the caller makes too many
   */
  public static Access requesting(int weight) {
    Access access = requesting();
    if (weight > 1) {
      // As one it was counted when it came.
      access.countRequest(weight - 1);
    }
    return access;
  }

  /**
   * Counts the call itself. Who gives something back is not refused for having called too often.
   */
  void countCall() {
    callWait = usage.request(limits(), 1);
  }

  /**
   * Lets the call go on if it was within the limit of requests when it came.
   *
   * @throws OverLimitException if the caller makes too many; it says when there will not be
   */
  public void requireRate() {
    if (callWait > 0) {
      throw usage.tooManyRequests(limits(), callWait);
    }
  }

  /**
   * Counts a request.
   *
   * @param weight as how many it counts
   * @throws OverLimitException if the caller makes too many; it says when there will not be
   */
  public void countRequest(int weight) {
    long wait = usage.request(limits(), weight);
    if (wait > 0) {
      rejectedNanos.addAndGet(wait);
      throw usage.tooManyRequests(limits(), wait);
    }
  }

  /** Counts a request that keeps or gives back what is held, and so is taken in any case. */
  public void countKept() {
    long unused = usage.request(limits(), 1);
  }

  /** Returns whether the call itself, or the work that it asks for, exceeded the limit. */
  boolean isOverLimit() {
    return callWait > 0 || rejectedNanos.get() > 0;
  }

  /**
   * Returns how long a stream is not read: as long as the requests that were rejected on it since
   * the last call of this method would have taken at the limit, for each open stream of the caller.
   * So all its streams together are rejected no faster than at the limit.
   */
  long takePauseNanos() {
    return rejectedNanos.get() == 0
        ? 0
        : Math.min(MAX_PAUSE_NANOS, rejectedNanos.getAndSet(0) * usage.streams());
  }

  /** Makes this the one of the current call. */
  Context in(Context context) {
    return context.withValue(KEY, this);
  }

  /** Returns who makes the call. */
  public Identity identity() {
    return identity;
  }

  /** Returns from where he makes it: address and port. */
  public String peer() {
    return peer;
  }

  /** Returns what he calls. */
  String rpc() {
    return rpc;
  }

  /** Returns who he is and from where, human-readable, for those whom his request is about. */
  public String who() {
    return identity.isAnonymous() ? peer : identity + " (" + peer + ")";
  }

  /** Returns as whom the core takes his requests. */
  public Caller caller() {
    return caller;
  }

  /** Returns as whom the core takes those requests that an operator may make for others. */
  public Caller operator() {
    return new Caller(caller.identity(), true, caller.account(), caller.quota());
  }

  /** Returns how much he may have and ask for. */
  public Limits limits() {
    return rules.authority().limitsOf(identity);
  }

  /** Returns what he has and asks for. */
  public Usage.Account usage() {
    return usage;
  }

  /** Returns whether he has a right on a lock. */
  public boolean permits(Right right, LockName lock) {
    return rules.authority().permits(identity, right, lock);
  }

  /** Returns on which locks he has a right. */
  public Predicate<LockName> having(Right right) {
    return lock -> permits(right, lock);
  }

  /** Returns the locks that the caller is allowed to read. */
  public VisibleLocks readable() {
    return from -> rules.authority().nextPermitted(identity, Right.READ, from);
  }

  /** Returns whether he has a right on all locks whose names begin with a prefix. */
  public boolean permitsAll(Right right, String prefix) {
    return rules.authority().permitsAll(identity, right, prefix);
  }

  /**
   * Lets the call go on if he has a right on a lock. Whether there is such a lock is not looked at
   * before.
   *
   * @throws DeniedException if he has not; the refusal is audited
   */
  public void require(Right right, LockName lock) {
    if (!permits(right, lock)) {
      throw denied(
          right, "on lock '" + lock + "'", Map.of("right", right.key(), "lock", lock.value()));
    }
  }

  /**
   * Lets the call go on if he has a right on all locks whose names begin with a prefix.
   *
   * @throws DeniedException if he has not; the refusal is audited
   */
  public void requireAll(Right right, String prefix) {
    if (!permitsAll(right, prefix)) {
      throw denied(
          right,
          prefix.isEmpty() ? "on all locks" : "on all locks under '" + prefix + "'",
          Map.of("right", right.key(), "prefix", prefix));
    }
  }

  /**
   * Lets a request for locks go on if he has the right to each, in its mode, and keeps his limits.
   * What is held under a lease may go on to be held whatever the policy says by now: a request with
   * tokens gets nothing else there.
   *
   * @param underLease whether it is under a lease that there is
   * @throws DeniedException if he lacks one
   * @throws InvalidRequestException if he asks for more than he may
   */
  public void requireToAcquire(AcquireCommand command, boolean underLease) {
    if (underLease && !command.heldTokens().isEmpty()) {
      return;
    }
    for (AcquireCommand.WantedLock wanted : command.locks()) {
      // Permits do not count as shared: a client that takes all of them excludes the others.
      boolean shared = wanted.mode().equals(ReadWriteKind.READ);
      require(shared ? Right.ACQUIRE_SHARED : Right.ACQUIRE, wanted.name());
    }
    requireDescribable(command.metadata());
    Duration maxWait = limits().maxWait();
    boolean mayWaitForEver = maxWait.equals(Limits.DEFAULTS.maxWait());
    if (command.waitTimeout().map(wait -> wait.compareTo(maxWait) > 0).orElse(!mayWaitForEver)) {
      throw Fields.invalid(
          "wait_timeout",
          "must be set, to at most " + maxWait + ", which is the limit of '" + identity + "'");
    }
    requireAtMost(limits().maxLockDelay(), command.lockDelay(), "lock_delay");
  }

  /**
   * Lets metadata of this size be kept.
   *
   * @throws InvalidRequestException if it is larger than he may make it
   */
  public void requireDescribable(Map<String, String> metadata) {
    int most = limits().metadataBytes();
    int bytes = Fields.metadataBytes(metadata);
    if (bytes > most) {
      throw Fields.invalid(
          "metadata", "must be at most " + most + " bytes for '" + identity + "', are " + bytes);
    }
  }

  /**
   * Lets a lease have this TTL.
   *
   * @throws InvalidRequestException if it is longer than he may have it
   */
  public void requireTtl(Duration ttl) {
    requireAtMost(limits().maxTtl(), ttl, "ttl");
  }

  private void requireAtMost(Duration most, Duration wanted, String field) {
    if (wanted.compareTo(most) > 0) {
      throw Fields.invalid(
          field, "must be at most " + most + ", which is the limit of '" + identity + "'");
    }
  }

  private DeniedException denied(Right right, String where, Map<String, String> details) {
    DeniedException denied =
        new DeniedException(
            "'"
                + identity
                + "' may not do this: it lacks the right '"
                + right.key()
                + "' "
                + where);
    record("PERMISSION_DENIED", String.valueOf(denied.getMessage()), details);
    return denied;
  }

  /**
   * Returns what a request says that must be recorded, also if it is not a valid one.
   *
   * @throws InvalidRequestException as {@code reading} does; the refusal is audited
   */
  public <W> W auditedRequest(Supplier<W> reading) {
    try {
      return reading.get();
    } catch (InvalidRequestException e) {
      recordRefusal(e, Map.of());
      throw e;
    }
  }

  /**
   * Lets a call that must be recorded go on if it was within the limit of requests when it came.
   *
   * @param details what it is about
   * @throws OverLimitException if the caller makes too many; the refusal is audited
   */
  public void requireAuditedRate(Map<String, String> details) {
    try {
      requireRate();
    } catch (OverLimitException e) {
      recordRefusal(e, details);
      throw e;
    }
  }

  /**
   * Records how something ends that must be recorded.
   *
   * @param details what it is about
   */
  public <A> CompletableFuture<A> audited(Map<String, String> details, CompletableFuture<A> end) {
    return end.whenComplete(
        (answer, cause) -> {
          if (cause == null) {
            record(Audit.OK, "", details);
          } else {
            recordRefusal(cause, details);
          }
        });
  }

  private void recordRefusal(Throwable cause, Map<String, String> details) {
    Refusal refusal = Statuses.of(cause);
    record(refusal.code().name(), refusal.message(), details);
  }

  private void record(String result, String message, Map<String, String> details) {
    rules.audit().record(new Audit.Entry(rpc, identity, peer, result, message, details));
  }
}
