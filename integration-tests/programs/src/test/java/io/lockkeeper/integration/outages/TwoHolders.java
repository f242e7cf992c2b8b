package io.lockkeeper.integration.outages;

import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockSpec;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.integration.failover.Ensemble;
import io.lockkeeper.integration.failover.Pace;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryNTimes;
import org.awaitility.Awaitility;

/**
 * Two sides of a ZooKeeper server that freezes: holders at coordinators that know no other server,
 * and Curator on the other two, which waits for the same locks.
 *
 * <p>What the frozen server has not passed on, the leader does not know: it counts the timeout of a
 * session from what it heard last, and that may be older than the last proof that the frozen server
 * answered. The worst moment is just behind that answer. So each holder is on a session of its own,
 * and sessions are opened at chosen times before the freeze: their proofs are as far from it.
 */
final class TwoHolders implements AutoCloseable {

  /** How often a lock session is proved. */
  static final Duration PERIOD = Pace.PRODUCTION.lockSession().dividedBy(6);

  private static final Duration PREPARATION = Duration.ofSeconds(3);
  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final long LOOK_NANOS = 1_000_000;

  /** A lease that holds so many locks with such names fills a lock session by more than half. */
  private static final int FILLING_REQUESTS = 3;

  private static final int FILLING_LOCKS = 58;
  private static final int FILLING_NAME_BYTES = 500;

  private final List<ServerProcess> coordinators = new ArrayList<>();
  private final List<LockkeeperClient> clients = Collections.synchronizedList(new ArrayList<>());
  private final Ensemble ensemble;
  private final ZooKeeperProcess victim;
  private final CuratorFramework curator;
  private int tries;

  private TwoHolders(Ensemble ensemble) {
    this.ensemble = ensemble;
    this.victim = ensemble.followers().get(0);
    this.curator =
        CuratorFrameworkFactory.builder()
            .connectString(
                ensemble.servers().stream()
                    .filter(server -> server != victim)
                    .map(ZooKeeperProcess::connectString)
                    .collect(Collectors.joining(",")))
            .sessionTimeoutMs((int) Pace.PRODUCTION.lockSession().toMillis())
            .retryPolicy(new RetryNTimes(10, 500))
            .build();
  }

  /** Starts an ensemble and so many coordinators that know one follower only. */
  static TwoHolders start(int coordinators) throws InterruptedException {
    TwoHolders sides = new TwoHolders(Ensemble.start(3, Pace.PRODUCTION));
    try {
      for (int i = 0; i < coordinators; i++) {
        List<String> flags = new ArrayList<>(Pace.PRODUCTION.flags());
        // Coordinators of one root would send their clients to each other.
        flags.add("--root=" + root(i));
        sides.coordinators.add(
            ServerProcess.launch(sides.victim.connectString(), flags.toArray(String[]::new)));
      }
      sides.curator.start();
      sides.curator.blockUntilConnected();
      return sides;
    } catch (RuntimeException | Error | InterruptedException e) {
      sides.close();
      throw e;
    }
  }

  private static String root(int coordinator) {
    return "/coordinator-" + coordinator;
  }

  /**
   * Freezes the follower once, that long after the last proof of each holder's session, as far as
   * that can be arranged. Returns what became of the locks; everything is whole again.
   *
   * @param phases for each holder, shorter than {@link #PERIOD}
   */
  List<Contest> freeze(List<Duration> phases) throws InterruptedException {
    coordinators.forEach(coordinator -> coordinator.awaitHealth(ServingStatus.SERVING));
    tries++;
    Duration longest = Collections.max(phases);
    long freezeNanos = System.nanoTime() + PREPARATION.plus(PERIOD).plus(longest).toNanos();
    Queue<Contest> contests = new ConcurrentLinkedQueue<>();
    CompletableFuture.allOf(
            IntStream.range(0, coordinators.size())
                .mapToObj(
                    index ->
                        CompletableFuture.runAsync(
                            () -> contests.addAll(hold(index, share(index, phases), freezeNanos)),
                            task -> new Thread(task, "holders-" + index).start()))
                .toArray(CompletableFuture[]::new))
        .join();
    Awaitility.await("Curator in every queue")
        .atMost(PATIENCE)
        .until(() -> contests.stream().allMatch(Contest::isChallenged));
    parkUntil(freezeNanos);
    try {
      victim.pause();
      awaitDecision(contests);
    } finally {
      victim.resume();
    }
    ensemble.awaitWhole();
    clients.parallelStream().forEach(LockkeeperClient::close);
    clients.clear();
    return List.copyOf(contests);
  }

  /** Returns what one coordinator has of them, in the order in which sessions are to be opened. */
  private List<Duration> share(int coordinator, List<Duration> phases) {
    return IntStream.range(0, phases.size())
        .filter(i -> i % coordinators.size() == coordinator)
        .mapToObj(phases::get)
        .sorted(Comparator.reverseOrder())
        .toList();
  }

  private List<Contest> hold(int coordinator, List<Duration> phases, long freezeNanos) {
    List<Contest> contests = new ArrayList<>();
    String name = "try-" + tries;
    // The first session is the mirror's, too: it is written to at other times as well.
    fill(client(coordinator), name + "-first");
    for (int i = 0; i < phases.size(); i++) {
      parkUntil(freezeNanos - PERIOD.plus(phases.get(i)).toNanos());
      LockkeeperClient client = client(coordinator);
      String lock = name + "-" + i;
      Contest contest =
          new Contest(
              client.acquire(LockRequest.of(lock)).orTimeout(90, TimeUnit.SECONDS).join(),
              curator,
              root(coordinator) + "/locks/" + lock);
      contests.add(contest);
      fill(client, lock);
      contest.challenge();
    }
    return contests;
  }

  private LockkeeperClient client(int coordinator) {
    LockkeeperClient client =
        LockkeeperClient.builder(coordinators.get(coordinator).address()).build();
    clients.add(client);
    return client;
  }

  /** Fills the session of a client's lease, so that the next lease gets another one. */
  private static void fill(LockkeeperClient client, String prefix) {
    for (int i = 0; i < FILLING_REQUESTS; i++) {
      String head = prefix + "-" + i + "-";
      List<LockSpec> locks =
          IntStream.range(0, FILLING_LOCKS)
              .mapToObj(number -> LockSpec.exclusive(filling(head + number)))
              .toList();
      client.acquire(LockRequest.of(locks)).orTimeout(90, TimeUnit.SECONDS).join();
    }
  }

  /** A tilde takes three bytes of a path. */
  private static String filling(String head) {
    return head + "~".repeat(FILLING_NAME_BYTES - head.length());
  }

  /** Waits until Curator has every lock and no holder believes that it has, and looks on. */
  private static void awaitDecision(Iterable<Contest> contests) {
    long endNanos = System.nanoTime() + PATIENCE.toNanos();
    boolean decided = false;
    while (!decided) {
      if (System.nanoTime() - endNanos > 0) {
        throw new AssertionError("Curator does not get what nobody holds, or holders go on");
      }
      decided = true;
      for (Contest contest : contests) {
        boolean held = contest.look();
        decided &= !held && contest.granted().isDone();
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }

  private static void parkUntil(long nanos) {
    for (long left = nanos - System.nanoTime(); left > 0; left = nanos - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  @Override
  public void close() {
    clients.parallelStream().forEach(LockkeeperClient::close);
    curator.close();
    coordinators.forEach(ServerProcess::close);
    ensemble.close();
  }
}
