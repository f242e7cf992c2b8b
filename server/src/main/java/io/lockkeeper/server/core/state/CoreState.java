package io.lockkeeper.server.core.state;

import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.Caller;
import io.lockkeeper.server.core.api.CoreSettings;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LeaseEnd;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.PathSizes;
import io.lockkeeper.server.core.queue.Mirror;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Everything that the core knows: shared by its parts, which all run on one thread. */
public final class CoreState {

  public static final String NO_CONTACT =
      "the coordinator has no contact with ZooKeeper, or has just regained it";

  public static final String HOLDER_UNREAD = "a holder's entry could not be read; try again";

  private static final int REMEMBERED_LEASES = 65_536;

  public final CoreSettings settings;
  public final PathSizes pathSizes;
  public final Mirror mirror = new Mirror();
  public final Timers timers = new Timers();
  public final Map<UUID, Acquisition> acquisitions = new HashMap<>();
  public final Map<LeaseId, Lease> leases = new HashMap<>();

  /** The same by the half of their ids that the names of their entries show. */
  public final Map<Long, Lease> leasesByTag = new HashMap<>();

  public final Map<StreamId, Subscriber> streams = new HashMap<>();
  public final Map<LeaseId, EndedLease> endedLeases =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<LeaseId, EndedLease> eldest) {
          return size() > REMEMBERED_LEASES;
        }
      };

  /** What each client has here. */
  public final Accounts accounts;

  /** Who makes the request that is being taken. */
  public Caller caller = Caller.ANYBODY;

  /** Whether this coordinator is about to leave. */
  public boolean draining;

  /** Whether this coordinator hands its sessions over: it renews no lease any more. */
  public boolean leaving;

  /** How many other coordinators say that they can serve leases. */
  public int servingPeers;

  private final Map<LockName, Integer> ownEntries = new HashMap<>();
  private List<Effect> effects = new ArrayList<>();

  private final Deque<FollowUp> followUps = new ArrayDeque<>();
  public long now;

  public CoreState(CoreSettings settings, PathSizes pathSizes) {
    this.settings = settings;
    this.pathSizes = pathSizes;
    this.accounts = new Accounts(settings, pathSizes, mirror);
  }

  /** Begins to serve a lease. */
  public void add(Lease lease) {
    Optional.ofNullable(leases.put(lease.id(), lease)).ifPresent(accounts::closed);
    leasesByTag.put(lease.id().high(), lease);
    accounts.opened(lease);
  }

  /** Serves a lease no more; returns whether it was served. */
  public boolean remove(Lease lease) {
    if (!leases.remove(lease.id(), lease)) {
      return false;
    }
    leasesByTag.remove(lease.id().high(), lease);
    accounts.closed(lease);
    return true;
  }

  /** Begins to serve an acquisition of a lease that is served. */
  public void add(Acquisition acquisition) {
    Optional.ofNullable(acquisitions.put(acquisition.id(), acquisition)).ifPresent(this::uncount);
    acquisition.lease().acquisitions().put(acquisition.command().requestId(), acquisition);
    acquisition.times().came(now);
    accounts.began(acquisition);
    acquisition.holds().forEach(hold -> ownEntries.merge(hold.lock(), 1, Integer::sum));
  }

  /** Forgets an acquisition of which nothing is left, or which is another coordinator's. */
  public void remove(Acquisition acquisition) {
    if (acquisitions.remove(acquisition.id(), acquisition)) {
      uncount(acquisition);
    }
  }

  private void uncount(Acquisition acquisition) {
    accounts.ended(acquisition);
    acquisition
        .holds()
        .forEach(hold -> ownEntries.computeIfPresent(hold.lock(), CoreState::oneLess));
  }

  /**
   * A lease that has ended here.
   *
   * @param end why
   * @param identity whose it was; empty: nobody's
   */
  public record EndedLease(LeaseEnd end, String identity) {}

  /** Who listens on a stream: one acquisition, or a whole lease. */
  public sealed interface Subscriber {
    /**
     * One acquisition.
     *
     * @param acquisition the acquisition
     */
    record ForAcquisition(Acquisition acquisition) implements Subscriber {}

    /**
     * A whole lease.
     *
     * @param lease the lease
     */
    record ForLease(Lease lease) implements Subscriber {}
  }

  private static @Nullable Integer oneLess(LockName lock, int entries) {
    return entries == 1 ? null : entries - 1;
  }

  /**
   * Returns how many entries of this coordinator there are for a lock: those as well that are being
   * created, and those whose deletion is not certain.
   */
  public int ownEntries(LockName lock) {
    return ownEntries.getOrDefault(lock, 0);
  }

  public void emit(Effect effect) {
    effects.add(effect);
  }

  /** Remembers what is to be done next. */
  public void follow(FollowUp next) {
    followUps.add(next);
  }

  /** Returns what is to be done next, or empty if that is nothing. */
  public Optional<FollowUp> nextFollowUp() {
    return Optional.ofNullable(followUps.poll());
  }

  public void reply(CallId call, Answer answer) {
    effects.add(new Effect.Reply(call, answer));
  }

  public void fail(CallId call, Failure.Reason reason, String message) {
    reply(call, new Answer.Failed(new Failure(reason, message)));
  }

  /** Returns what was emitted since the last call. */
  public List<Effect> takeEffects() {
    if (effects.isEmpty()) {
      return List.of();
    }
    List<Effect> taken = effects;
    effects = new ArrayList<>();
    return taken;
  }
}
