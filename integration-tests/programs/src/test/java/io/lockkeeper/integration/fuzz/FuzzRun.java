package io.lockkeeper.integration.fuzz;

import io.grpc.ManagedChannel;
import io.lockkeeper.integration.fuzz.Callers.Caller;
import io.lockkeeper.integration.harness.Footprint;
import io.lockkeeper.integration.harness.Inside;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.AdminServiceGrpc.AdminServiceBlockingStub;
import io.lockkeeper.v1.DrainRequest;
import io.lockkeeper.v1.Frozen;
import io.lockkeeper.v1.GetClusterRequest;
import io.lockkeeper.v1.UnfreezeRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/** Attacks two coordinators for a while, and says what came of it. */
final class FuzzRun {

  /** The coordinator that is drained in the end. */
  static final int DRAINED = 1;

  private static final List<Caller> ATTACKERS =
      List.of(Caller.ATTACKER, Caller.RIVAL, Caller.OPERATOR, Caller.NOBODY);
  private static final int WARM_UP = 10_000;
  private static final int WHILE_DRAINING = 5_000;
  private static final Duration CLEARANCE = Duration.ofSeconds(90);
  private static final long HEAP_SLACK_BYTES = 48L << 20;
  private static final int THREAD_SLACK = 8;
  private static final int MOST_LOG_LINES = 1_000;
  private static final int PATIENCE_SECONDS = 60;

  private final FuzzedCluster cluster;
  private final Findings findings;
  private final Loot loot = new Loot();
  private final Inside inside = new Inside();
  private final Random random;
  private final String mark;
  private final AtomicLong sent = new AtomicLong();
  private final List<Long> loggedBefore;
  private final List<Long> rounds = new ArrayList<>();
  private long granted;
  private long forwarded;
  private long suspicions;

  private FuzzRun(FuzzedCluster cluster, long seed) {
    this.cluster = cluster;
    this.findings = new Findings(seed);
    this.random = new Random(seed);
    this.loggedBefore =
        IntStream.range(0, FuzzedCluster.SIZE).mapToObj(i -> log(i).count()).toList();
    this.mark = String.format("mark%016x", random.nextLong());
  }

  /**
   * What came of a run.
   *
   * @param sent how many requests were sent
   * @param granted how often a lock was granted, to witnesses too
   * @param forwarded how many requests one coordinator handed on to the other
   * @param suspicions how often one coordinator suspected the other and took over its leases
   * @param rounds how often each witness took and gave back its lock meanwhile
   * @param findings what should not be
   * @param ends how calls ended
   */
  record Result(
      long sent,
      long granted,
      long forwarded,
      long suspicions,
      List<Long> rounds,
      List<String> findings,
      String ends) {

    @Override
    public String toString() {
      return String.format(
          "%d requests, %d forwarded, %d grants, %d suspicions, rounds of the witnesses: %s, %s",
          sent, forwarded, granted, suspicions, rounds, ends);
    }
  }

  /** Sends requests as long as they are wanted, and then some while a coordinator is drained. */
  static Result of(FuzzedCluster cluster, long seed, BooleanSupplier wanted) {
    FuzzRun run = new FuzzRun(cluster, seed);
    run.attack(wanted);
    return run.result();
  }

  /** Sends requests as long as they are wanted, while something else happens, and drains nobody. */
  static Result beside(FuzzedCluster cluster, long seed, BooleanSupplier wanted, Runnable other) {
    FuzzRun run = new FuzzRun(cluster, seed);
    run.attackBeside(wanted, other);
    return run.result();
  }

  /**
   * On a busy machine, coordinators suspect each other and take over leases. Clients notice that,
   * so what disturbed a witness is a finding only if it did not happen.
   */
  private Result result() {
    List<String> all = findings.all();
    if (suspicions == 0) {
      all.addAll(findings.disturbances());
    } else {
      findings
          .disturbances()
          .forEach(each -> System.out.println("fuzz: during takeovers, " + each));
    }
    return new Result(
        sent.get(), granted, forwarded, suspicions, rounds, all, findings.ends().toString());
  }

  /** Returns what is true for so many seconds from now on. */
  static BooleanSupplier forSeconds(long seconds) {
    long begunNanos = System.nanoTime();
    return () -> System.nanoTime() - begunNanos < TimeUnit.SECONDS.toNanos(seconds);
  }

  /** Sends so many requests, and then some while a coordinator is drained. */
  static Result of(FuzzedCluster cluster, long seed, long requests) {
    return of(cluster, seed, atMost(requests));
  }

  private static BooleanSupplier atMost(long requests) {
    AtomicLong left = new AtomicLong(requests);
    return () -> left.decrementAndGet() >= 0;
  }

  private void attack(BooleanSupplier wanted) {
    Spared spared = new Spared(Set.of());
    Spared allButDrains = new Spared(Set.of(DRAINED));
    try (Witness survivor = witness(1 - DRAINED, spared, allButDrains)) {
      try (Witness other = witness(DRAINED, spared, allButDrains)) {
        attackTwice(wanted, spared);
        rounds.add(other.rounds());
      }
      drain();
      attackTogether(atMost(WHILE_DRAINING), allButDrains);
      checkDrained();
      awaitCleared();
      rounds.add(survivor.rounds());
    }
    count();
    cluster.replace(DRAINED);
  }

  private Witness witness(int home, Spared... spared) {
    Witness witness = Witness.start(cluster, home, findings, inside, mark);
    for (Spared each : spared) {
      witness.leaseTags().forEach(each::lease);
    }
    if (home != DRAINED) {
      loot.keep("lease_id", witness.knownLeaseId());
    }
    return witness;
  }

  private void attackTwice(BooleanSupplier wanted, Spared spared) {
    BooleanSupplier warmUp = atMost(WARM_UP);
    attackTogether(() -> warmUp.getAsBoolean() && wanted.getAsBoolean(), spared);
    awaitCleared();
    List<Footprint> before = footprints();
    attackTogether(wanted, spared);
    awaitCleared();
    for (int i = 0; i < FuzzedCluster.SIZE; i++) {
      if (isServing(i)) {
        check(before.get(i), Footprint.of(cluster.server(i)));
      } else {
        findings.add("coordinator " + i + " does not serve: " + cluster.readyz(i));
      }
      checkLog(i);
    }
  }

  private void attackBeside(BooleanSupplier wanted, Runnable other) {
    Spared spared = new Spared(Set.of());
    try (Witness first = witness(0, spared);
        Witness second = witness(1, spared)) {
      CompletableFuture<Void> done = CompletableFuture.runAsync(other);
      attackTogether(wanted, spared);
      done.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
      awaitCleared();
      rounds.add(first.rounds());
      rounds.add(second.rounds());
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
    count();
    checkLog(0);
    checkLog(1);
  }

  private void count() {
    granted = cluster.metric("lockkeeper_grants_total");
    forwarded = cluster.metric("lockkeeper_forwarded_requests_total");
    suspicions = cluster.metric("lockkeeper_peer_suspicions_total");
  }

  private boolean isServing(int coordinator) {
    try {
      Awaitility.await()
          .atMost(CLEARANCE)
          .until(() -> cluster.readyz(coordinator).contains("\"serving\":true"));
      return true;
    } catch (ConditionTimeoutException e) {
      return false;
    }
  }

  private List<Footprint> footprints() {
    return List.of(Footprint.of(cluster.server(0)), Footprint.of(cluster.server(1)));
  }

  private void attackTogether(BooleanSupplier wanted, Spared spared) {
    ExecutorService threads = Executors.newFixedThreadPool(ATTACKERS.size());
    try {
      List<Future<?>> ends = new ArrayList<>();
      for (Caller caller : ATTACKERS) {
        Attacker attacker =
            new Attacker(
                cluster, caller, findings, loot, spared, random.nextLong(), counted(wanted));
        ends.add(threads.submit(attacker));
      }
      for (Future<?> end : ends) {
        end.get();
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    } finally {
      threads.shutdownNow();
    }
  }

  private BooleanSupplier counted(BooleanSupplier wanted) {
    return () -> {
      boolean another = wanted.getAsBoolean();
      if (another) {
        sent.incrementAndGet();
      }
      return another;
    };
  }

  /** Waits until nothing is in ZooKeeper but what the witnesses have, and thaws everything. */
  private void awaitCleared() {
    try {
      Awaitility.await()
          .atMost(CLEARANCE)
          .pollInterval(Duration.ofMillis(500))
          .until(() -> cluster.entriesBeside("tenant-b").isEmpty());
    } catch (ConditionTimeoutException e) {
      findings.add("entries that nobody wants any more: " + cluster.entriesBeside("tenant-b"));
    }
    thaw();
  }

  /** Chance alone does not always send the request for it. */
  private void drain() {
    ManagedChannel channel = cluster.connect(Caller.OPERATOR, DRAINED);
    try {
      var unused =
          AdminServiceGrpc.newBlockingStub(channel)
              .withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS)
              .drain(DrainRequest.getDefaultInstance());
    } finally {
      channel.shutdownNow();
    }
  }

  private void thaw() {
    ManagedChannel channel = cluster.connect(Caller.OPERATOR, 1 - DRAINED);
    try {
      AdminServiceBlockingStub operator = AdminServiceGrpc.newBlockingStub(channel);
      Awaitility.await().atMost(CLEARANCE).until(() -> isThawed(operator));
    } catch (ConditionTimeoutException e) {
      findings.add("frozen, though all was thawed: " + cluster.freezes());
    } finally {
      channel.shutdownNow();
    }
  }

  private boolean isThawed(AdminServiceBlockingStub operator) {
    AdminServiceBlockingStub now = operator.withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS);
    for (Frozen frozen : now.getCluster(GetClusterRequest.getDefaultInstance()).getFrozenList()) {
      var unused = now.unfreeze(UnfreezeRequest.newBuilder().setPrefix(frozen.getPrefix()).build());
    }
    return cluster.freezes().isEmpty();
  }

  /** Looks whether the one has handed over all, and the other one goes on. */
  private void checkDrained() {
    if (!cluster.readyz(DRAINED).contains("drained")) {
      findings.add("the coordinator was not drained: " + cluster.readyz(DRAINED));
    }
    if (!isServing(1 - DRAINED)) {
      findings.add("the other one does not serve: " + cluster.readyz(1 - DRAINED));
    }
    checkLog(DRAINED);
  }

  private void check(Footprint before, Footprint after) {
    if (after.heapBytes() > 2 * before.heapBytes() + HEAP_SLACK_BYTES) {
      findings.add("the heap has grown: " + before + ", now " + after);
    }
    if (after.threads() > before.threads() + THREAD_SLACK) {
      findings.add("there are more threads: " + before + ", now " + after);
    }
  }

  private Stream<String> log(int coordinator) {
    return cluster.server(coordinator).output().lines();
  }

  private void checkLog(int coordinator) {
    List<String> log = log(coordinator).skip(loggedBefore.get(coordinator)).toList();
    if (log.size() > MOST_LOG_LINES) {
      findings.add("a coordinator has logged " + log.size() + " lines, such as " + log.get(500));
    }
    log.stream()
        .filter(line -> line.startsWith("\tat "))
        .findFirst()
        .ifPresent(
            line -> findings.add("a stack trace in the log: " + around(log, log.indexOf(line))));
  }

  private static List<String> around(List<String> log, int index) {
    return log.subList(Math.max(0, index - 3), Math.min(log.size(), index + 6));
  }
}
