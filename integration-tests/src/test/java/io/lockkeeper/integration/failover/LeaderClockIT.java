package io.lockkeeper.integration.failover;

import static io.lockkeeper.integration.failover.Pace.letPass;
import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.Alone;
import io.lockkeeper.integration.harness.Znodes;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What moves ZooKeeper's clock for a session, which is the leader's, on three real servers. The
 * bound of a session rests on this: docs/design.md, "The bound of a session, derived".
 */
@Alone
final class LeaderClockIT {

  private static final Duration TICK = Duration.ofSeconds(1);
  private static final Duration LAG = TICK.multipliedBy(3).dividedBy(4);
  private static final Duration MARGIN = TICK.dividedBy(2);

  /**
   * So long that the next touch is two ticks after the last one, and moves the expiry by two ticks
   * at least: the leader tells it in whole seconds.
   */
  private static final Duration SILENCE = TICK.multipliedBy(27).dividedBy(10);

  /** The client library sends a ping after a third of it, and must not do so in the silence. */
  private static final Duration TIMEOUT = TICK.multipliedBy(11);

  private static final Duration PATIENCE = TICK.multipliedBy(60);
  private static final int MANY = 40;
  private static final int SOME = 10;
  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("EEE MMM dd HH:mm:ss zzz yyyy", Locale.US);

  @AutoClose
  private static final Ensemble ensemble =
      Ensemble.start(3, new Pace(TICK, 4, TIMEOUT, TIMEOUT, false));

  private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(MANY);
  private final List<Future<?>> tasks = new ArrayList<>();
  private final Random random = new Random(1);
  private final List<ProvenSession> sessions = new ArrayList<>();
  private ZooKeeperProcess leader;
  private ZooKeeperProcess follower;
  private Znodes znodes;

  @BeforeEach
  void choose() {
    ensemble.awaitWhole();
    leader = ensemble.leader();
    follower = ensemble.followers().get(0);
    znodes = Znodes.at(ensemble.followers().get(1).connectString());
  }

  @AfterEach
  void drop() {
    timer.shutdownNow();
    znodes.close();
    drop(sessions);
  }

  private static void drop(Collection<ProvenSession> sessions) {
    sessions.parallelStream().forEach(ProvenSession::drop);
  }

  /** Opens sessions whose timeouts differ by up to a tick, so that they expire in other buckets. */
  private List<ProvenSession> open(ZooKeeperProcess server, int count, Duration timeout) {
    List<ProvenSession> opened =
        IntStream.range(0, count)
            .mapToObj(i -> timeout.plus(TICK.multipliedBy(i).dividedBy(count)))
            .map(different -> ProvenSession.open(server.connectString(), different))
            .toList();
    sessions.addAll(opened);
    return opened;
  }

  /** Returns when the leader will have each session expire, in seconds of its wall clock. */
  private Map<Long, Long> expiries() {
    Map<Long, Long> expiries = new HashMap<>();
    long expiry = 0;
    for (String line : leader.ask("dump").lines().toList()) {
      int date = line.indexOf("expire at ");
      if (date >= 0) {
        String text = line.substring(date + "expire at ".length(), line.length() - 1);
        expiry = ZonedDateTime.parse(text, DATE).toEpochSecond();
      } else if (line.startsWith("\t0x") && expiry > 0) {
        expiries.putIfAbsent(Long.parseUnsignedLong(line.strip().substring(2), 16), expiry);
      } else if (line.startsWith("ephemeral")) {
        break;
      }
    }
    return expiries;
  }

  /**
   * Returns whether the leader was touched for a session that had been silent. One that it has left
   * out was on its way from one expiry to the next.
   */
  private static boolean isMoved(
      ProvenSession session, Map<Long, Long> before, Map<Long, Long> after) {
    long id = session.getSessionId();
    Long expiry = after.get(id);
    return expiry == null || (expiry - before.get(id)) * 1_000 * 2 > TICK.toMillis() * 3;
  }

  @Test
  void writeBehindAFollowerIsOnTheLeadersClockWithinTheLagAndTheMargin() {
    // Given
    List<ProvenSession> silent = open(follower, MANY, TICK.multipliedBy(30));
    letPass(SILENCE);
    Map<Long, Long> before = expiries();
    // When
    silent.forEach(
        session ->
            tasks.add(
                timer.schedule(
                    session::prove, random.nextLong(3 * TICK.toNanos()), TimeUnit.NANOSECONDS)));
    Map<ProvenSession, Long> unmovedNanos = new HashMap<>();
    Map<ProvenSession, Long> movedNanos = new HashMap<>();
    AtomicLong slowestNanos = new AtomicLong();
    Awaitility.await("touches at the leader")
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(5))
        .until(
            () -> {
              final long askedNanos = System.nanoTime();
              Map<Long, Long> now = expiries();
              final long toldNanos = System.nanoTime();
              slowestNanos.accumulateAndGet(toldNanos - askedNanos, Math::max);
              for (ProvenSession session : silent) {
                if (isMoved(session, before, now)) {
                  movedNanos.putIfAbsent(session, toldNanos);
                } else {
                  unmovedNanos.put(session, askedNanos);
                }
              }
              return movedNanos.size() == MANY && tasks.stream().allMatch(Future::isDone);
            });
    // Then: where the leader answers late, it also sends its PINGs late
    Duration late = Duration.ofNanos(slowestNanos.get());
    tell(
        "from the answer to the leader's clock, at most",
        silent,
        session -> movedNanos.get(session) - session.newest().answeredNanos());
    assertThat(
            tell(
                "from the answer to the leader's clock, at least",
                silent,
                session -> unmovedNanos.get(session) - session.newest().answeredNanos()))
        .allMatch(lag -> lag.compareTo(LAG.plus(MARGIN).plus(late)) < 0);
  }

  @Test
  void writeOfAClientOfTheLeaderIsOnItsClockWhenItIsAnswered() {
    // Given
    List<ProvenSession> silent = open(leader, SOME, TIMEOUT);
    letPass(SILENCE);
    Map<Long, Long> before = expiries();
    // When
    silent.forEach(ProvenSession::prove);
    // Then
    Map<Long, Long> after = expiries();
    assertThat(silent).allMatch(session -> isMoved(session, before, after));
  }

  @Test
  void connectionMadeAnewIsOnTheLeadersClockWhenItIsMade() {
    // Given
    List<ProvenSession> silent = open(follower, SOME, TIMEOUT);
    letPass(SILENCE);
    Map<Long, Long> before = expiries();
    for (ProvenSession session : silent) {
      // When
      sessions.add(session.reconnect(follower.connectString()));
      // Then
      assertThat(isMoved(session, before, expiries())).isTrue();
    }
  }

  @Test
  void sessionOfAFollowerThatIsCutOffLivesUntilItsBoundAndNotForItsTimeoutAfterItsLastWrite() {
    // Given
    List<ProvenSession> regular = open(follower, MANY, TIMEOUT);
    List<ProvenSession> rare = open(follower, SOME, TIMEOUT);
    List<ProvenSession> ofLeader = open(leader, SOME, TIMEOUT);
    Map<ProvenSession, CompletableFuture<Long>> ends = new HashMap<>();
    sessions.forEach(session -> ends.put(session, znodes.deletionOf(session.path())));
    long half = TICK.toNanos() / 2;
    regular.forEach(
        session ->
            tasks.add(
                timer.scheduleAtFixedRate(
                    session::prove, random.nextLong(half), half, TimeUnit.NANOSECONDS)));
    try {
      // When
      Awaitility.await("a cut between two PINGs")
          .pollDelay(Duration.ZERO)
          .atMost(PATIENCE)
          .until(() -> cutBeforeThePing(rare));
      tasks.forEach(task -> task.cancel(true));
      ofLeader.forEach(ProvenSession::prove);
      drop(sessions);
      ends.values().forEach(end -> end.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join());
    } finally {
      follower.resume();
    }
    // Then
    ToLongFunction<ProvenSession> expiry = session -> expiryNanos(ends.get(session).join());
    ToLongFunction<ProvenSession> beyondBound =
        session -> expiry.applyAsLong(session) - session.boundNanos(LAG, MARGIN);
    ToLongFunction<ProvenSession> beyondWrite =
        session ->
            expiry.applyAsLong(session)
                - session.newest().sentNanos()
                - session.timeout().toNanos();
    assertThat(tell("writes every half tick: expiry after the bound", regular, beyondBound))
        .allMatch(beyond -> !beyond.isNegative());
    assertThat(tell("writes after a silence: expiry after the bound", rare, beyondBound))
        .allMatch(beyond -> !beyond.isNegative());
    assertThat(tell("leader: expiry after last write + T", ofLeader, beyondWrite))
        .allMatch(beyond -> !beyond.isNegative());
    tell("writes every half tick: expiry after last write + T", regular, beyondWrite);
    assertThat(tell("writes after a silence: expiry after last write + T", rare, beyondWrite))
        .anyMatch(beyond -> beyond.compareTo(TICK.negated()) < 0);
  }

  /**
   * Has sessions write, be silent and write again, and stops their server before it answers the
   * next PING. Returns false, and lets it go on, if that came too late.
   */
  private boolean cutBeforeThePing(List<ProvenSession> silent) {
    silent.forEach(ProvenSession::prove);
    letPass(SILENCE);
    Map<Long, Long> before = expiries();
    Awaitility.await("a PING")
        .pollInterval(Duration.ofMillis(5))
        .until(() -> !expiries().equals(before));
    silent.forEach(ProvenSession::prove);
    follower.pause();
    // What was under way arrives.
    letPass(TICK.dividedBy(4));
    Map<Long, Long> after = expiries();
    if (silent.stream().noneMatch(session -> isMoved(session, before, after))) {
      return true;
    }
    follower.resume();
    return false;
  }

  /** Sessions expire at whole ticks of the clock that all processes of a machine share. */
  private static long expiryNanos(long goneNanos) {
    return goneNanos - Math.floorMod(goneNanos, TICK.toNanos());
  }

  @Test
  void newLeaderGivesEverySessionItsWholeTimeout() {
    // Given: sessions that have used up half of it
    Duration timeout = TICK.multipliedBy(5);
    List<ProvenSession> silent = open(follower, SOME, timeout);
    List<CompletableFuture<Long>> ends =
        silent.stream().map(session -> znodes.deletionOf(session.path())).toList();
    drop(silent);
    letPass(timeout.dividedBy(2));
    // When
    final long killedNanos = System.nanoTime();
    leader.kill();
    // Then
    try {
      assertThat(ends)
          .map(end -> end.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join() - killedNanos)
          .allMatch(lived -> lived >= timeout.toNanos());
    } finally {
      leader.start();
    }
  }

  private static List<Duration> tell(
      String what, List<ProvenSession> sessions, ToLongFunction<ProvenSession> nanos) {
    List<Duration> times =
        sessions.stream().mapToLong(nanos).mapToObj(Duration::ofNanos).sorted().toList();
    System.out.printf(
        Locale.ROOT,
        "tick %s: %s: %s to %s, median %s, of %d%n",
        TICK,
        what,
        times.get(0),
        times.get(times.size() - 1),
        times.get(times.size() / 2),
        times.size());
    return times;
  }
}
