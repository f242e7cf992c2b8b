package io.lockkeeper.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.testing.InMemoryLockkeeper;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.integration.leader.AbstractCandidate;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.event.AbstractLeaderEvent;
import org.springframework.integration.leader.event.OnGrantedEvent;
import org.springframework.integration.leader.event.OnRevokedEvent;

/** What a candidate of Spring Integration is told. */
class LockkeeperLeaderInitiatorTest {

  private final InMemoryLockkeeper server = InMemoryLockkeeper.start();
  private final LockkeeperClient client = server.clientBuilder().build();
  private final Recording first = new Recording("first");
  private final Recording second = new Recording("second");
  private final List<String> events = new CopyOnWriteArrayList<>();
  private AnnotationConfigApplicationContext context;

  @BeforeEach
  void start() {
    context = new AnnotationConfigApplicationContext();
    context.addApplicationListener(
        event -> {
          if (event instanceof AbstractLeaderEvent told) {
            String name =
                told instanceof OnGrantedEvent
                    ? "granted"
                    : told instanceof OnRevokedEvent ? "revoked" : "failed";
            events.add(name + " " + told.getRole());
          }
        });
    context.registerBean(
        LockkeeperLeaderInitiator.class, () -> new LockkeeperLeaderInitiator(client, first));
    context.refresh();
  }

  @AfterEach
  void stop() {
    context.close();
    client.close();
    server.close();
  }

  /** Remembers what it was told. */
  private static class Recording extends AbstractCandidate {
    final List<LeaderContext> granted = new CopyOnWriteArrayList<>();
    final List<LeaderContext> revoked = new CopyOnWriteArrayList<>();

    Recording(String id) {
      super(id, "reports/leader");
    }

    @Override
    public void onGranted(Context context) throws InterruptedException {
      granted.add((LeaderContext) context);
    }

    @Override
    public void onRevoked(Context context) {
      revoked.add((LeaderContext) context);
    }

    LeaderContext awaitTerm(int number) {
      Awaitility.await().until(() -> granted.size() >= number);
      return granted.get(number - 1);
    }
  }

  private static LockkeeperLeaderInitiator started(
      LockkeeperClient client, Recording candidate, ApplicationEventPublisher publisher) {
    LockkeeperLeaderInitiator initiator = new LockkeeperLeaderInitiator(client, candidate);
    initiator.setApplicationEventPublisher(publisher);
    initiator.start();
    return initiator;
  }

  private void awaitSomebodyWaiting() {
    Awaitility.await().until(() -> client.getLock("reports/leader").queue().size() == 1);
  }

  @Test
  void applicationThatStartsLeadsAndIsToldAndOneThatStopsStepsDown() {
    // Given
    LeaderContext term = first.awaitTerm(1);
    assertThat(term.isLeader()).isTrue();
    assertThat(term.fencingToken()).isPositive();
    // When
    context.close();
    // Then
    assertThat(first.revoked).containsExactly(term);
    assertThat(term.isLeader()).isFalse();
    assertThat(events).containsExactly("granted reports/leader", "revoked reports/leader");
    assertThat(client.getLock("reports/leader").holders()).isEmpty();
  }

  @Test
  void leaderThatYieldsIsFollowedByTheNextAndStandsAgain() {
    // Given
    LeaderContext term = first.awaitTerm(1);
    LockkeeperLeaderInitiator next = started(client, second, context);
    awaitSomebodyWaiting();
    // When
    term.yield();
    LeaderContext following = second.awaitTerm(1);
    // Then
    assertThat(following.fencingToken()).isGreaterThan(term.fencingToken());
    assertThat(first.revoked).containsExactly(term);
    awaitSomebodyWaiting();
    next.stop();
    assertThat(first.awaitTerm(2).fencingToken()).isGreaterThan(following.fencingToken());
  }

  @Test
  void lossIsToldAndTheCandidateStandsAgain() {
    // Given
    LeaderContext term = first.awaitTerm(1);
    // When
    server.removeHolder("reports/leader");
    // Then
    LeaderContext again = first.awaitTerm(2);
    assertThat(first.revoked).containsExactly(term);
    assertThat(term.isLeader()).isFalse();
    assertThat(again.fencingToken()).isGreaterThan(term.fencingToken());
  }

  @Test
  void candidateThatLeadsWithinItsMethodIsInterruptedAtTheEnd() {
    // Given
    context.close();
    Recording busy =
        new Recording("busy") {
          @Override
          public void onGranted(Context context) throws InterruptedException {
            super.onGranted(context);
            new CountDownLatch(1).await();
          }
        };
    LockkeeperLeaderInitiator initiator = started(client, busy, event -> {});
    busy.awaitTerm(1);
    // When
    initiator.stop();
    // Then
    assertThat(busy.revoked).hasSize(1);
    assertThat(initiator.isRunning()).isFalse();
    assertThat(client.getLock("reports/leader").holders()).isEmpty();
  }

  @Test
  void candidateThatKeepsTheInterruptForItselfIsRevokedAndStandsAgain() {
    // Given
    context.close();
    Recording busy =
        new Recording("busy") {
          @Override
          public void onGranted(Context context) throws InterruptedException {
            super.onGranted(context);
            try {
              new CountDownLatch(1).await();
            } catch (InterruptedException e) {
              return;
            }
          }
        };
    LockkeeperLeaderInitiator initiator = started(client, busy, event -> {});
    LeaderContext term = busy.awaitTerm(1);
    // When
    server.removeHolder("reports/leader");
    busy.awaitTerm(2);
    // Then
    assertThat(busy.revoked).containsExactly(term);
    initiator.stop();
    assertThat(busy.revoked).hasSize(2);
    assertThat(client.getLock("reports/leader").holders()).isEmpty();
  }

  @Test
  void stopThatComesWithALossEndsTheCampaign() {
    // Given
    context.close();
    AtomicReference<LockkeeperLeaderInitiator> initiator = new AtomicReference<>();
    CompletableFuture<Void> stopped = new CompletableFuture<>();
    Recording stopping =
        new Recording("stopping") {
          @Override
          public void onRevoked(Context context) {
            super.onRevoked(context);
            if (revoked.size() == 1) {
              CompletableFuture<Void> unused =
                  CompletableFuture.runAsync(() -> initiator.get().stop())
                      .thenRun(() -> stopped.complete(null));
              Awaitility.await().until(() -> !initiator.get().isRunning());
            }
          }
        };
    initiator.set(started(client, stopping, event -> {}));
    stopping.awaitTerm(1);
    // When
    server.removeHolder("reports/leader");
    stopped.join();
    // Then
    assertThat(stopping.granted).hasSize(1);
    assertThat(client.getLock("reports/leader").holders()).isEmpty();
  }

  @Test
  void candidateThatThrowsStepsDownAndIsReported() {
    // Given
    context.close();
    events.clear();
    Recording broken =
        new Recording("broken") {
          @Override
          public void onGranted(Context context) throws InterruptedException {
            super.onGranted(context);
            throw new IllegalStateException("cannot lead");
          }
        };
    List<Object> told = new CopyOnWriteArrayList<>();
    // When
    LockkeeperLeaderInitiator initiator = started(client, broken, told::add);
    // Then
    Awaitility.await().until(() -> told.size() >= 3);
    assertThat(broken.revoked).hasSize(1);
    assertThat(client.getLock("reports/leader").holders()).isEmpty();
    initiator.stop();
  }

  @Test
  void clientThatIsClosedEndsTheThread() {
    // Given
    LockkeeperClient own = server.clientBuilder().build();
    LockkeeperLeaderInitiator initiator = started(own, new Recording("closed"), event -> {});
    awaitSomebodyWaiting();
    // When
    own.close();
    // Then
    Awaitility.await().until(() -> !initiator.isRunning());
    initiator.stop();
  }
}
