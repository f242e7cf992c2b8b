package io.lockkeeper.integration.fuzz;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/** Attacks a server for a while, and says what came of it. */
final class FuzzRun {

  private static final int ATTACKERS = 4;
  private static final int WARM_UP = 20_000;
  private static final Duration CLEARANCE = Duration.ofSeconds(90);
  private static final long HEAP_SLACK_BYTES = 48L << 20;
  private static final int THREAD_SLACK = 8;
  private static final int MOST_LOG_LINES = 1_000;

  private final FuzzedServer server;
  private final Findings findings;
  private final Loot loot = new Loot();
  private final Random random;
  private final AtomicLong sent = new AtomicLong();
  private long rounds;

  private FuzzRun(FuzzedServer server, long seed) {
    this.server = server;
    this.findings = new Findings(seed);
    this.random = new Random(seed);
  }

  /**
   * What came of a run.
   *
   * @param sent how many requests were sent
   * @param rounds how often the witness took and gave back its lock meanwhile
   * @param findings what should not be
   * @param ends how calls ended
   */
  record Result(long sent, long rounds, List<String> findings, String ends) {}

  /** Sends requests as long as they are wanted. */
  static Result of(FuzzedServer server, long seed, BooleanSupplier wanted) {
    FuzzRun run = new FuzzRun(server, seed);
    run.attack(wanted);
    return new Result(
        run.sent.get(), run.rounds, run.findings.all(), run.findings.ends().toString());
  }

  /** Sends so many requests. */
  static Result of(FuzzedServer server, long seed, long requests) {
    AtomicLong left = new AtomicLong(requests);
    return of(server, seed, () -> left.decrementAndGet() >= 0);
  }

  private void attack(BooleanSupplier wanted) {
    String mark = String.format("mark%016x", random.nextLong());
    try (Witness witness = Witness.start(server, findings, mark)) {
      loot.keep("lease_id", witness.knownLeaseId());
      AtomicLong warmUp = new AtomicLong(WARM_UP);
      attackTogether(() -> warmUp.decrementAndGet() >= 0 && wanted.getAsBoolean());
      awaitCleared();
      long heapBefore = server.usedHeapBytes();
      int threadsBefore = server.threads();
      attackTogether(wanted);
      awaitCleared();
      checkServer(heapBefore, threadsBefore);
      rounds = witness.rounds();
    }
  }

  private void attackTogether(BooleanSupplier wanted) {
    ExecutorService threads = Executors.newFixedThreadPool(ATTACKERS);
    try {
      List<Attacker> attackers =
          random
              .longs(ATTACKERS)
              .mapToObj(seed -> new Attacker(server, findings, loot, seed, counted(wanted)))
              .toList();
      List<? extends Future<?>> ends = attackers.stream().map(threads::submit).toList();
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

  /** Waits until nothing is in ZooKeeper but what the witness has. */
  private void awaitCleared() {
    try {
      Awaitility.await()
          .atMost(CLEARANCE)
          .pollInterval(Duration.ofMillis(500))
          .until(() -> server.entriesBeside("tenant-b").isEmpty());
    } catch (ConditionTimeoutException e) {
      findings.add("entries that nobody wants any more: " + server.entriesBeside("tenant-b"));
    }
  }

  private void checkServer(long heapBefore, int threadsBefore) {
    if (!server.serves()) {
      findings.add("the server does not serve");
      return;
    }
    long heap = server.usedHeapBytes();
    if (heap > 2 * heapBefore + HEAP_SLACK_BYTES) {
      findings.add("the heap has grown from " + heapBefore + " to " + heap);
    }
    int threads = server.threads();
    if (threads > threadsBefore + THREAD_SLACK) {
      findings.add("there were " + threadsBefore + " threads, there are " + threads);
    }
    List<String> log = server.log().lines().toList();
    if (log.size() > MOST_LOG_LINES) {
      findings.add("the server has logged " + log.size() + " lines, such as " + log.get(500));
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
