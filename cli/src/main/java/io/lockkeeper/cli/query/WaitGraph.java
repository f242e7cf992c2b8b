package io.lockkeeper.cli.query;

import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.LockState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Who waits for which lock, as one server sees it. */
final class WaitGraph {

  /** Beyond so many locks with a queue, those with the shorter ones are not looked at. */
  static final int MAX_LOCKS = 200;

  private static final int MAX_QUEUE = 1_000;

  private final Map<Waiter, List<LockState>> waits = new HashMap<>();
  private final boolean whole;

  /** Who a contender is: its lease and the owner inside it. */
  private record Waiter(String leaseTag, String owner) {
    static Waiter of(Contender contender) {
      return new Waiter(contender.getLeaseTag(), contender.getOwner());
    }
  }

  /**
   * One step from a holder to what he himself waits for.
   *
   * @param holder who holds the lock before
   * @param lock what he waits for; its holders are what the next step begins with
   * @param closesCycle whether that lock is one that came before, so that nobody in between goes on
   */
  record Step(Contender holder, LockState lock, boolean closesCycle) {}

  private WaitGraph(List<LockState> contended, boolean whole) {
    this.whole = whole;
    for (LockState lock : contended) {
      for (Contender waiter : lock.getQueueList()) {
        if (!waiter.getLeaseTag().isEmpty()) {
          waits.computeIfAbsent(Waiter.of(waiter), unused -> new ArrayList<>()).add(lock);
        }
      }
    }
  }

  /** Reads the queues of all locks that somebody waits for. */
  static WaitGraph read(Servers servers) {
    List<LockState> waitedFor =
        LockPages.all(servers, "").stream()
            .filter(lock -> lock.getQueueLength() > 0)
            .sorted((a, b) -> Integer.compare(b.getQueueLength(), a.getQueueLength()))
            .toList();
    List<LockState> contended = new ArrayList<>();
    for (LockState lock : waitedFor.subList(0, Math.min(MAX_LOCKS, waitedFor.size()))) {
      contended.add(state(servers, lock.getName(), MAX_QUEUE));
    }
    return new WaitGraph(contended, waitedFor.size() <= MAX_LOCKS);
  }

  /** Returns one lock with so many of those who wait. */
  static LockState state(Servers servers, String name, int queueLimit) {
    GetLockRequest request =
        GetLockRequest.newBuilder().setName(name).setQueueLimit(queueLimit).build();
    return servers.call(stub -> stub.getLock(request)).getLock();
  }

  /** Returns whether all queues were looked at. */
  boolean isWhole() {
    return whole;
  }

  /** Returns what is waited for under a lease, by its public short name. */
  List<LockState> waitsOf(String leaseTag) {
    return waits.entrySet().stream()
        .filter(entry -> entry.getKey().leaseTag().equals(leaseTag))
        .flatMap(entry -> entry.getValue().stream())
        .toList();
  }

  /** Returns the chain of waits from the holders of a lock, as far as it goes; it may be empty. */
  List<Step> chainFrom(LockState lock) {
    List<Step> chain = new ArrayList<>();
    Set<String> seen = new HashSet<>(Set.of(lock.getName()));
    Optional<Step> next = next(lock, seen);
    while (next.isPresent()) {
      chain.add(next.get());
      next = next.get().closesCycle() ? Optional.empty() : next(next.get().lock(), seen);
    }
    return chain;
  }

  private Optional<Step> next(LockState lock, Set<String> seen) {
    for (Contender holder : lock.getHoldersList()) {
      List<LockState> wanted = waits.getOrDefault(Waiter.of(holder), List.of());
      if (!wanted.isEmpty()) {
        LockState first = wanted.get(0);
        return Optional.of(new Step(holder, first, !seen.add(first.getName())));
      }
    }
    return Optional.empty();
  }
}
