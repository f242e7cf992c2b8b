package io.lockkeeper.server.testing;

import io.lockkeeper.server.coordinator.api.CoordinatorStatus;
import io.lockkeeper.server.coordinator.api.CoordinatorStatus.SessionStatus;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.coordinator.api.StoreHealth;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.Contender;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LeaseView;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.QueueExtremes;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.MutexKind;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** Values that a coordinator would show. */
public final class ViewSamples {

  public static final LeaseId LEASE = new LeaseId(0x1234L, 0xabcdL);
  public static final LockName LOCK = new LockName("orders/42");
  public static final long TTL_NANOS = Duration.ofSeconds(15).toNanos();

  private ViewSamples() {}

  public static CoordinatorStatus serving() {
    return new CoordinatorStatus(
        false,
        false,
        true,
        List.of(
            new SessionStatus("lock-1", true, true, 1_000, 3),
            new SessionStatus("lock-2", true, true, 2_500, 4)),
        7,
        11,
        5,
        4,
        12,
        2,
        3,
        1,
        1_500_000,
        StoreHealth.WELL,
        new QueueExtremes(9, 60_000_000_000L, 30_500_000_000L),
        3);
  }

  public static CoordinatorStatus cutOff() {
    return new CoordinatorStatus(
        false,
        false,
        false,
        List.of(new SessionStatus("lock<1>", false, false, 0, 0)),
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        StoreHealth.WELL,
        QueueExtremes.NONE,
        1);
  }

  public static Contender holder() {
    return holder(MutexKind.EXCLUSIVE, "shop-1", Map.of("pod", "a"));
  }

  public static Contender holder(Mode mode, String holder, Map<String, String> metadata) {
    return new Contender(
        LEASE.tag(),
        "req-1",
        "",
        holder,
        mode,
        metadata,
        3_000_000_000L,
        Optional.of(2_000_000_000L),
        Optional.of(new FencingToken(77)),
        Optional.empty(),
        "_c_x-lock-0000000001",
        false);
  }

  /** Returns a holder that was asked to give way and has said for how long it needs the lock. */
  public static Contender yielding(Mode mode, long needsNanos) {
    return new Contender(
        LEASE.tag(),
        "req-1",
        "worker-1",
        "shop-1",
        mode,
        Map.of(),
        3_000_000_000L,
        Optional.of(2_000_000_000L),
        Optional.of(new FencingToken(77)),
        Optional.of(needsNanos),
        "h",
        false);
  }

  public static Contender waiter(Mode mode) {
    return new Contender(
        "",
        "",
        "",
        "",
        mode,
        Map.of(),
        1_000_000L,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        "w",
        false);
  }

  public static LockView lock(String name) {
    return new LockView(
        new LockName(name),
        List.of(holder()),
        1,
        List.of(waiter(MutexKind.EXCLUSIVE)),
        99,
        OptionalInt.empty(),
        Optional.empty(),
        Optional.empty());
  }

  public static LockView held(String name, List<Contender> holders) {
    return new LockView(
        new LockName(name),
        holders,
        0,
        List.of(),
        99,
        OptionalInt.empty(),
        Optional.empty(),
        Optional.empty());
  }

  /** Returns a lock of configured permits whose next grant waits. */
  public static LockView delayed(String name, Contender holder, int limit, long delayNanos) {
    return new LockView(
        new LockName(name),
        List.of(holder),
        0,
        List.of(),
        99,
        OptionalInt.of(limit),
        Optional.of(delayNanos),
        Optional.empty());
  }

  public static LeaseView lease(String tag) {
    return new LeaseView(
        tag,
        "shop-1",
        Optional.of(TTL_NANOS),
        Optional.of(TTL_NANOS / 2),
        1,
        List.of(new LeaseView.Held("req-1", List.of(LOCK), true)));
  }

  public static Answer.LeaseOpened opened() {
    return new Answer.LeaseOpened(LEASE, TTL_NANOS, TTL_NANOS - 1, 1);
  }

  public static Answer.LeaseAttached attached() {
    return new Answer.LeaseAttached(LEASE, TTL_NANOS, TTL_NANOS - 1, 1);
  }

  public static Notice.Granted granted() {
    return new Notice.Granted(
        LEASE,
        List.of(new Notice.Grant(LOCK, new FencingToken(77), Optional.empty(), 1, 0)),
        TTL_NANOS);
  }

  public static Notice.Queued queued() {
    return new Notice.Queued(
        List.of(new Notice.Place(LOCK, 1, List.of(holder()), Optional.empty())));
  }

  public static RefusedException refused(Failure.Reason reason) {
    return new RefusedException(new Failure(reason, "because of " + reason));
  }
}
