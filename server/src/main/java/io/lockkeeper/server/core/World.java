package io.lockkeeper.server.core;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** Everything that the core knows: shared by its parts, which all run on one thread. */
final class World {

  static final String NO_CONTACT =
      "the coordinator has no contact with ZooKeeper, or has just regained it";

  private static final int REMEMBERED_LEASES = 65_536;

  final CoreSettings settings;
  final PathSizes pathSizes;
  final Mirror mirror = new Mirror();
  final Timers timers = new Timers();
  final Map<UUID, Ticket> tickets = new HashMap<>();
  final Map<LeaseId, Lease> leases = new HashMap<>();

  /** The same by the half of their ids that the names of their entries show. */
  final Map<Long, Lease> leasesByTag = new HashMap<>();

  final Map<StreamId, Subscriber> streams = new HashMap<>();
  final Map<LeaseId, LeaseEnd> endedLeases =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<LeaseId, LeaseEnd> eldest) {
          return size() > REMEMBERED_LEASES;
        }
      };

  /** Whether this coordinator is about to leave. */
  boolean draining;

  /** How many other coordinators say that they can serve leases. */
  int servingPeers;

  /** Whether changes are described, because somebody watches or did not long ago. */
  boolean describesChanges = true;

  private List<Effect> effects = new ArrayList<>();

  private final Deque<FollowUp> followUps = new ArrayDeque<>();
  long now;

  World(CoreSettings settings, PathSizes pathSizes) {
    this.settings = settings;
    this.pathSizes = pathSizes;
  }

  /** Who listens on a stream: one acquisition, or a whole lease. */
  sealed interface Subscriber {
    /**
     * One acquisition.
     *
     * @param ticket the acquisition
     */
    record ForTicket(Ticket ticket) implements Subscriber {}

    /**
     * A whole lease.
     *
     * @param lease the lease
     */
    record ForLease(Lease lease) implements Subscriber {}
  }

  void emit(Effect effect) {
    effects.add(effect);
  }

  /** Remembers what is to be done next. */
  void follow(FollowUp next) {
    followUps.add(next);
  }

  /** Returns what is to be done next, or empty if that is nothing. */
  Optional<FollowUp> nextFollowUp() {
    return Optional.ofNullable(followUps.poll());
  }

  void reply(CallId call, Answer answer) {
    effects.add(new Effect.Reply(call, answer));
  }

  void fail(CallId call, Failure.Kind kind, String message) {
    reply(call, new Answer.Failed(new Failure(kind, message)));
  }

  List<Effect> takeEffects() {
    if (effects.isEmpty()) {
      return List.of();
    }
    List<Effect> taken = effects;
    effects = new ArrayList<>();
    return taken;
  }
}
