package io.lockkeeper.howto;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.Watch;
import io.lockkeeper.testing.InMemoryLockkeeper;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What {@code docs/how-to/leader-election.md} says of its example in Java. */
class ReportsLeaderTest {

  private static final String LOCK = "reports/leader";

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<String> reports = new CopyOnWriteArrayList<>();
  private final BlockingQueue<String> orders1 = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> orders2 = new LinkedBlockingQueue<>();
  private InMemoryLockkeeper server;
  private LockkeeperClient client1;
  private LockkeeperClient client2;
  private ReportsLeader one;
  private ReportsLeader two;

  @BeforeEach
  void start() {
    server = InMemoryLockkeeper.start();
    client1 = server.clientBuilder().build();
    client2 = server.clientBuilder().build();
    one = new ReportsLeader(client1, "http://10.0.0.7:8080", orders1, this::store);
    two = new ReportsLeader(client2, "http://10.0.0.8:8080", orders2, this::store);
  }

  @AfterEach
  void stop() {
    threads.shutdownNow();
    client1.close();
    client2.close();
    server.close();
  }

  @Test
  void observersAreToldWhoLeadsAndWhoTakesOver() throws Exception {
    // Given
    List<Optional<String>> told = new CopyOnWriteArrayList<>();
    try (Watch watch = two.observe(told::add)) {
      Future<Boolean> first = threads.submit(running(one));
      Awaitility.await().until(() -> told.contains(Optional.of("http://10.0.0.7:8080")));
      Future<Boolean> second = threads.submit(running(two));
      Awaitility.await().until(() -> client1.getLock(LOCK).queueLength() == 1);
      // When
      one.stop();
      Awaitility.await().until(() -> told.contains(Optional.of("http://10.0.0.8:8080")));
      two.stop();
      // Then
      assertThat(first.get()).isTrue();
      assertThat(second.get()).isTrue();
    }
    assertThat(server.holderToken(LOCK)).isEmpty();
  }

  @Test
  void leaderThatIsDeposedGoesBackToTheQueueAndLeadsAgain() throws Exception {
    // Given
    Future<Boolean> first = threads.submit(running(one));
    Awaitility.await().until(() -> server.holderToken(LOCK).isPresent());
    Future<Boolean> second = threads.submit(running(two));
    Awaitility.await().until(() -> client1.getLock(LOCK).queueLength() == 1);
    // When
    server.removeHolder(LOCK);
    orders2.add("sales");
    Awaitility.await().until(() -> reports.contains("report on sales"));
    two.stop();
    boolean secondEnded = second.get();
    orders1.add("stock");
    Awaitility.await().until(() -> reports.contains("report on stock"));
    one.stop();
    // Then
    assertThat(secondEnded).isTrue();
    assertThat(first.get()).isTrue();
    assertThat(reports).containsExactly("report on sales", "report on stock");
  }

  @Test
  void leaderThatIsAskedToResignMakesWay() throws Exception {
    // Given
    Future<Boolean> first = threads.submit(running(one));
    Awaitility.await().until(() -> server.holderToken(LOCK).isPresent());
    // When
    server.requestRelease(LOCK, "ops", "deployment");
    // Then
    assertThat(first.get()).isTrue();
    assertThat(server.holderToken(LOCK)).isEmpty();
  }

  private void store(String report, long fencingToken) {
    reports.add(report);
  }

  private static Callable<Boolean> running(ReportsLeader leader) {
    return () -> {
      leader.run();
      return true;
    };
  }
}
