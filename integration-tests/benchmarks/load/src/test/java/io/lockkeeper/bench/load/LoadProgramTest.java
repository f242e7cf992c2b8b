package io.lockkeeper.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

class LoadProgramTest {

  private static final Order ORDER = new Order(Order.Shape.OWN, 3, 0, 60_000, 500, 0);
  private static final Order REENTRY = new Order(Order.Shape.REENTRY, 3, 0, 60_000, 500, 0);

  private final ExecutorService answering = Executors.newSingleThreadExecutor();

  @AfterEach
  void stop() {
    answering.shutdownNow();
  }

  private static List<String> serve(LoadedSystem system, Order... orders) throws Exception {
    StringBuilder lines = new StringBuilder();
    for (Order order : orders) {
      lines.append(JsonMapper.shared().writeValueAsString(order)).append('\n');
    }
    ByteArrayOutputStream answers = new ByteArrayOutputStream();
    LoadProgram.serve(
        system,
        new ByteArrayInputStream(lines.toString().getBytes(StandardCharsets.UTF_8)),
        new PrintStream(answers, true, StandardCharsets.UTF_8));
    return answers.toString(StandardCharsets.UTF_8).lines().toList();
  }

  private static Report report(String line) {
    assertThat(line).startsWith(LoadProgram.END);
    return JsonMapper.shared().readValue(line.substring(LoadProgram.END.length()), Report.class);
  }

  /** Locks that answer on another thread, and remember what is held how many times. */
  private final class FakeLocks implements LoadedSystem, AsyncLocks<String> {
    private final ConcurrentHashMap<String, Integer> held = new ConcurrentHashMap<>();
    private final AtomicInteger granted = new AtomicInteger();
    private final AtomicInteger freed = new AtomicInteger();
    private int failingGrant;

    @Override
    public Crew start(Order order, Tally tally) {
      return AsyncCrew.start(order, tally, this);
    }

    @Override
    public CompletionStage<String> acquire(int client, String lock) {
      return CompletableFuture.supplyAsync(
          () -> {
            if (granted.incrementAndGet() == failingGrant) {
              throw new IllegalStateException("no more locks");
            }
            held.merge(lock, 1, Integer::sum);
            return lock;
          },
          answering);
    }

    @Override
    public CompletionStage<?> release(int client, String lock) {
      return CompletableFuture.runAsync(() -> giveBack(lock), answering);
    }

    private void giveBack(String lock) {
      if (held.merge(lock, -1, Integer::sum) == 0) {
        held.remove(lock);
        freed.incrementAndGet();
      }
    }
  }

  /** Locks of threads, which count how often one of them is free again. */
  private static final class FakeMutexes implements LoadedSystem, BlockingLocks<ReentrantLock> {
    private final Queue<ReentrantLock> opened = new ConcurrentLinkedQueue<>();
    private final AtomicInteger freed = new AtomicInteger();

    @Override
    public Crew start(Order order, Tally tally) {
      return ThreadCrew.start(order, tally, this);
    }

    @Override
    public ReentrantLock open(int client, String lock) {
      ReentrantLock mutex = new ReentrantLock();
      opened.add(mutex);
      return mutex;
    }

    @Override
    public void acquire(ReentrantLock lock) {
      lock.lock();
    }

    @Override
    public void release(ReentrantLock lock) {
      lock.unlock();
      if (!lock.isHeldByCurrentThread()) {
        freed.incrementAndGet();
      }
    }
  }

  @Test
  void orderIsAnsweredWithItsBeginningItsReportAndItsEnd() throws Exception {
    // Given
    FakeLocks locks = new FakeLocks();
    // When
    List<String> answers = serve(locks, ORDER, ORDER);
    // Then
    assertThat(answers).hasSize(7);
    assertThat(answers.get(0)).isEqualTo(LoadProgram.READY);
    assertThat(answers.get(1)).isEqualTo(LoadProgram.BEGIN);
    assertThat(report(answers.get(2)).cycles()).isGreaterThanOrEqualTo(500);
    assertThat(answers.get(3)).isEqualTo(LoadProgram.IDLE);
  }

  @Test
  void clientsHaveGivenEverythingBackWhenTheLoadIsIdle() throws Exception {
    // Given
    FakeLocks locks = new FakeLocks();
    // When
    List<String> answers = serve(locks, ORDER);
    // Then
    assertThat(answers).last().isEqualTo(LoadProgram.IDLE);
    assertThat(locks.held).isEmpty();
  }

  @Test
  void clientThatComesAgainGivesItsLockBackOnceAtTheEnd() throws Exception {
    // Given
    FakeLocks locks = new FakeLocks();
    // When
    List<String> answers = serve(locks, REENTRY);
    // Then
    assertThat(report(answers.get(2)).cycles()).isGreaterThanOrEqualTo(500);
    assertThat(answers).last().isEqualTo(LoadProgram.IDLE);
    assertThat(locks.held).isEmpty();
    assertThat(locks.freed).hasValue(REENTRY.clients());
  }

  @Test
  void threadThatComesAgainGivesItsLockBackOnceAtTheEnd() throws Exception {
    // Given
    FakeMutexes locks = new FakeMutexes();
    // When
    List<String> answers = serve(locks, REENTRY);
    // Then
    assertThat(report(answers.get(2)).cycles()).isGreaterThanOrEqualTo(500);
    assertThat(answers).last().isEqualTo(LoadProgram.IDLE);
    assertThat(locks.opened).hasSize(REENTRY.clients()).noneMatch(ReentrantLock::isLocked);
    assertThat(locks.freed).hasValue(REENTRY.clients());
  }

  @Test
  void clientThatFailsMakesTheOrderFailAtOnceAndSaysWhy() throws Exception {
    // Given
    FakeLocks locks = new FakeLocks();
    locks.failingGrant = 5;
    // When
    List<String> answers = serve(locks, ORDER);
    // Then
    assertThat(report(answers.get(2)).failure()).contains("no more locks");
  }

  @Test
  void latencyIsCountedForEveryAcquire() throws Exception {
    // When
    Report report = report(serve(new FakeLocks(), ORDER).get(2));
    // Then
    // Each client may have been granted its first counted lock before counting began.
    assertThat(report.acquire().count()).isGreaterThanOrEqualTo(report.cycles() - ORDER.clients());
    assertThat(report.acquire().max()).isGreaterThanOrEqualTo(report.acquire().p50());
  }
}
