package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.api.CoreSettings;
import io.lockkeeper.server.core.lock.LockName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;

/**
 * One simulated run: a virtual clock, one seeded source of chance, and everything that happens in
 * the order of that clock. The same seed gives the same run.
 */
final class Sim {

  static final long MILLI = 1_000_000L;
  static final long SECOND = 1_000 * MILLI;
  private static final long BEGINNING = 1_000 * SECOND;
  private static final boolean TRACING = Boolean.getBoolean("simulation.trace");

  /** What is planted to see whether the simulation notices. */
  enum Mutant {
    /** Queues are ordered by the text of the entries' names. */
    ORDER_BY_TEXT,
    /** A mirror that was disconnected is never called stale nor rebuilt. */
    STALE_MIRROR_TRUSTED,
    /** A mirror is called current before its queues were listed. */
    CURRENT_BEFORE_LISTED,
    /** A create in doubt is done again without looking whether it was done. */
    BLIND_RECREATE,
    /** A delete in doubt is taken for done. */
    DELETE_TAKEN_FOR_DONE,
    /** The entry of a request that was cancelled meanwhile is left where it is. */
    LATE_CREATE_KEPT,
    /** The session bound never runs out. */
    BOUND_IGNORED,
    /** A waiter is told its ending when the deletion of its entries begins. */
    ENDING_TOLD_EARLY,
    /** A session counts as proved as long as it looks connected. */
    PINGS_COUNT_AS_PROOFS,
    /**
     * A session is proved four times in its timeout, as if a proof set the leader's clock for it.
     */
    PROOF_TAKEN_FOR_TOUCH,
    /** A proof is dated five seconds after it was sent. */
    PROOF_DATED_LATE,
    /** Tokens are made from the sequence number, which restarts and sticks. */
    TOKEN_FROM_SEQUENCE,
    /** One answer in a hundred is lost. */
    ANSWERS_LOST,
    /** The mirror's events come in any order. */
    EVENTS_OUT_OF_ORDER,
    /** A read entry is placed beside a write entry without a look whether that still exists. */
    DOWNGRADE_UNCHECKED,
    /** The release of one level of a hold deletes the entry. */
    REENTRANT_RELEASE_DELETES,
    /** A holder's guard goes with its entry, however that goes. */
    GUARD_ALWAYS_DELETED,
    /** The next waiter is let in although a reader is about to be placed before it. */
    HAND_OFF_PAST_FOLLOWER,
    /** Permits are given without end. */
    LIMIT_IGNORED,
    /** Several locks are granted when one of them is held. */
    GRANTED_IN_PART,
    /** Nobody looks for cycles of waits. */
    CYCLES_NOT_SEARCHED,
    /** Who waited too long is told that it would have been for ever. */
    TIMEOUT_CALLED_DEADLOCK,
    /** What a deposed coordinator writes is written. */
    EPOCH_UNCHECKED,
    /** What was adopted is left alone for a second, and not for a session timeout. */
    GRACE_TOO_SHORT,
    /** Each takeover gives a lease its whole time to live once more. */
    TIME_LEFT_FORGOTTEN,
    /** Whoever is not there is taken for dead. */
    ABSENT_TAKEN_FOR_DEAD,
    /** Who leaves closes its sessions, with all that they own. */
    CLOSED_WHEN_LEFT,
    /** What was never sent is taken for a proof. */
    PROVED_UNASKED,
    /** Whoever sees a holder go takes its guard away, as if it had only waited. */
    GUARD_CLEARED_BY_PEER,
    /** A level is taken to stand behind the hold that it was placed beside. */
    LEVEL_BEHIND_ITS_BASE,
    /** A listing is believed that shows what is known to be gone. */
    LISTING_BRINGS_BACK,
    /** With a hold that was lost go all that its owner has at its place. */
    LOST_TAKES_ALL,
    /** What was adopted ends when it has lingered, whoever else may vouch for it. */
    LINGER_UNCHECKED,
    /** When it is known that a lock is held, only one of those is told who hold it by that. */
    ONE_SETTLED,
    /** What is frozen is not seen. */
    FREEZES_UNSEEN,
    /** Holders are not told that somebody waits. */
    CONTENTION_UNTOLD
  }

  /** A rule that was broken. */
  static final class Violation extends AssertionError {
    private static final long serialVersionUID = 1L;

    Violation(String message) {
      super(message);
    }
  }

  private record Due(long at, long number, Runnable action) {}

  final Random random;
  final Set<Mutant> mutants;
  final SimZooKeeper zooKeeper;
  final SimFreezes freezes;
  final SimRules rules;
  final SimHolds holds;
  final SimCycles cycles;
  final SimModes modes;
  final SimWishes wishes;
  final SimLosses losses;
  final SimKnown known;
  final List<SimCoordinator> coordinators = new ArrayList<>();

  /** Those whose processes are gone. */
  final List<SimCoordinator> ended = new ArrayList<>();

  /** Those whose member nodes are there. */
  final Set<SimCoordinator> members = new LinkedHashSet<>();

  final List<SimClient> clients = new ArrayList<>();
  final Map<String, SimRequest> requests = new LinkedHashMap<>();
  final SimClaims claims = new SimClaims();
  final List<SimStranger> strangers = new ArrayList<>();
  final List<LockName> locks = new ArrayList<>();
  long now = BEGINNING;
  long steps;

  /** Whether faults still happen and clients still begin things. */
  boolean chaos = true;

  /** Whether clients hold locks for long. */
  final boolean patient;

  /** Whether the servers to which mirrors are connected may lag behind. */
  final boolean lagging;

  /** By how much one session timeout is shorter by the clock of ZooKeeper's leader. */
  final long leaderIsFast;

  /** Whether coordinators often die when a lock that was handed on is still to be deleted. */
  final boolean diesHandingOn;

  /**
   * Whether a coordinator without peers, who would adopt its sessions in time, is often cut off
   * with the server that it is at until they expire, and a stranger waits for that.
   */
  final boolean losesServers;

  /** What happened, to compare two runs. */
  long trace;

  private final PriorityQueue<Due> queue =
      new PriorityQueue<>(
          (a, b) -> a.at != b.at ? Long.compare(a.at, b.at) : Long.compare(a.number, b.number));
  private long numbers;
  private long names;
  private final Optional<Duration> time;
  private final OptionalInt crowd;
  private final long maxSteps;

  Sim(long seed, Set<Mutant> mutants) {
    this(seed, mutants, Optional.empty(), OptionalInt.empty());
  }

  /**
   * Makes a run.
   *
   * @param time how long it takes until clients begin to go, instead of a random time
   * @param crowd how many coordinators there are, and as many clients, instead of a few
   */
  private Sim(long seed, Set<Mutant> mutants, Optional<Duration> time, OptionalInt crowd) {
    this.time = time;
    this.crowd = crowd;
    long usualSteps = 200_000L * (crowd.isPresent() ? crowd.getAsInt() : 1);
    this.maxSteps = time.map(given -> given.toSeconds() * 1_000).orElse(usualSteps);
    this.random = new Random(seed * 0x9E3779B97F4A7C15L + 7);
    this.mutants = mutants.isEmpty() ? EnumSet.noneOf(Mutant.class) : EnumSet.copyOf(mutants);
    this.losesServers = chance(15) && time.isEmpty() && crowd.isEmpty();
    this.patient = (losesServers || chance(30)) && time.isEmpty();
    this.lagging = chance(50);
    this.leaderIsFast = chance(50) ? 900 * MILLI : 0;
    this.diesHandingOn = chance(15);
    this.zooKeeper = new SimZooKeeper(this);
    this.freezes = new SimFreezes(this);
    this.rules = new SimRules(this);
    this.holds = new SimHolds(this);
    this.cycles = new SimCycles(this);
    this.modes = new SimModes(this);
    this.wishes = new SimWishes(this);
    this.losses = new SimLosses(this);
    this.known = new SimKnown(this);
  }

  /** Runs one seed from beginning to end, faults and all. */
  static Sim run(long seed, Set<Mutant> mutants) {
    return new Sim(seed, mutants).finished(seed);
  }

  /** Runs one seed for much longer. */
  static Sim runFor(Duration time, long seed) {
    return new Sim(seed, Set.of(), Optional.of(time), OptionalInt.empty()).finished(seed);
  }

  /** Runs one seed with many coordinators, and as many clients. */
  static Sim runCrowd(int coordinators, long seed) {
    return new Sim(seed, Set.of(), Optional.empty(), OptionalInt.of(coordinators)).finished(seed);
  }

  private Sim finished(long seed) {
    try {
      play();
    } catch (Throwable t) {
      throw new AssertionError(
          "seed " + seed + " at " + (now - BEGINNING) / MILLI + " ms: " + t.getMessage(), t);
    }
    return this;
  }

  private void play() {
    int lockCount = 1 + random.nextInt(4);
    for (int i = 0; i < lockCount; i++) {
      LockName lock = new LockName("sim/" + i);
      locks.add(lock);
      modes.decide(lock);
      int[] counters = {0, 7, 98, Integer.MAX_VALUE - 6};
      zooKeeper.beginAt(lock, counters[random.nextInt(counters.length)]);
    }
    CoreSettings settings = settings();
    int some = chance(85) ? 1 + random.nextInt(3) : 4 + random.nextInt(3);
    int coordinatorCount = crowd.orElse(losesServers ? 1 : some);
    boolean atHome = chance(60);
    for (int i = 0; i < coordinatorCount; i++) {
      coordinators.add(new SimCoordinator(this, settings, atHome ? i + 1 : 0));
      coordinators.get(i).start();
    }
    coordinators.get(0).lasts = time.isPresent();
    int clientCount = crowd.orElse(2 + random.nextInt(5));
    for (int i = 0; i < clientCount; i++) {
      after(delay(500), this::newClient);
    }
    if (random.nextInt(3) == 0 || losesServers) {
      strangers.add(new SimStranger(this));
    }
    new SimFaults(this).start();
    long usual = (10 + random.nextInt(25)) * SECOND;
    long end = now + time.map(Duration::toNanos).orElse(usual);
    while (now < end) {
      runUntil(Math.min(end, now + 60 * SECOND));
      clients.removeIf(SimClient::isForgotten);
    }
    chaos = false;
    freezes.end();
    strangers.forEach(SimStranger::finish);
    if (chance(40)) {
      // Whatever was cut is whole again by then, and who waits has reason to.
      runUntil(now + 40 * SECOND);
      cycles.onQuiet();
      losses.onQuiet();
      runUntil(now + SimLosses.QUIET.toNanos());
    }
    clients.forEach(SimClient::finish);
    runUntil(now + 60 * SECOND);
    rules.atRest();
  }

  private CoreSettings settings() {
    boolean tiny = random.nextInt(3) == 0;
    return new CoreSettings(
        Duration.ofSeconds(2),
        random.nextInt(4) == 0 ? 3 : 10_000,
        100,
        tiny ? 900 : 512 << 10,
        tiny ? 4 : 64,
        8L << 20,
        64L << 20,
        1_000_000,
        64L << 20,
        Duration.ofSeconds(2),
        random.nextInt(4) != 0,
        Duration.ofSeconds(3));
  }

  void newClient() {
    if (chaos) {
      SimClient client = new SimClient(this);
      clients.add(client);
      losses.onClient(client);
      client.start();
    }
  }

  boolean has(Mutant mutant) {
    return mutants.contains(mutant);
  }

  long name() {
    return ++names;
  }

  boolean chance(int percent) {
    return random.nextInt(100) < percent;
  }

  /** A random time up to {@code maxMillis}, most often a short one. */
  long delay(int maxMillis) {
    long max = chance(70) ? Math.max(1, maxMillis / 8) : maxMillis;
    return (long) (random.nextDouble() * max * MILLI) + 1;
  }

  LockName anyLock() {
    return locks.get(random.nextInt(locks.size()));
  }

  void after(long nanos, Runnable action) {
    at(now + nanos, action);
  }

  void at(long time, Runnable action) {
    queue.add(new Due(Math.max(time, now), numbers++, action));
  }

  private void runUntil(long end) {
    while (!queue.isEmpty() && queue.peek().at <= end) {
      Due due = queue.poll();
      now = due.at;
      steps++;
      if (steps > maxSteps) {
        throw new Violation("the run does not come to rest");
      }
      due.action.run();
    }
    now = end;
  }

  void note(Object what) {
    note("", what);
  }

  void note(Object who, Object what) {
    trace = trace * 31 + what.hashCode() + now;
    if (TRACING) {
      System.out.println((now - BEGINNING) / MILLI + " " + who + " " + what);
    }
  }
}
