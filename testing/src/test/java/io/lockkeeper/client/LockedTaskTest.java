package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.v1.LeaseEnded;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Work that needs a lock, guards that were lost, and waits that are interrupted. */
class LockedTaskTest {

  private static final String LOCK = "orders/42";
  private static final LockRequest REQUEST = LockRequest.of(LOCK);

  @AutoClose private final ScriptedClient scripted = new ScriptedClient();
  private final ScriptedServer server = scripted.server;
  private final LockkeeperClient client = scripted.client;
  private final AtomicInteger grants = new AtomicInteger();

  @BeforeEach
  void serve() {
    server.script(this::answer);
  }

  /** Grants and releases at once. */
  private void answer(SessionRequest request, StreamObserver<SessionResponse> stream) {
    ScriptedServer.keepAlive(request, stream);
    if (request.hasAcquire()) {
      String id = request.getAcquire().getRequestId();
      stream.onNext(ScriptedServer.granted(id, 1, LOCK, grants.incrementAndGet()));
    }
    if (request.hasRelease()) {
      String id = request.getRelease().getRequestId();
      stream.onNext(ScriptedServer.released(id, ReleaseOutcome.RELEASE_OUTCOME_RELEASED));
    }
  }

  private void takeAway() {
    server.post(ScriptedServer.lost(lastRequest(), 2));
  }

  private String lastRequest() {
    return server.wishes().stream()
        .filter(SessionRequest::hasAcquire)
        .reduce((first, second) -> second)
        .orElseThrow()
        .getAcquire()
        .getRequestId();
  }

  private long releases() {
    return server.wishes().stream().filter(SessionRequest::hasRelease).count();
  }

  private static void awaitInterrupt() throws InterruptedException {
    new CountDownLatch(1).await();
  }

  @Test
  void taskRunsWithTheTokenAndTheLockIsReleasedAfterIt() throws InterruptedException {
    // When
    long token = client.withLock(REQUEST, LockHandle::fencingToken);
    // Then
    assertThat(token).isEqualTo(1);
    assertThat(releases()).isEqualTo(1);
  }

  @Test
  void taskIsInterruptedWhenTheLockIsLostAndTheInterruptDoesNotOutliveIt() {
    // When
    Throwable thrown =
        catchThrowable(
            () ->
                client.runWithLock(
                    REQUEST,
                    lock -> {
                      takeAway();
                      awaitInterrupt();
                    }));
    // Then
    assertThat(thrown)
        .isInstanceOfSatisfying(
            LockLostException.class, e -> assertThat(e.reason()).isEqualTo(LossReason.FORCED))
        .hasMessageContaining(LOCK);
    assertThat(thrown.getSuppressed()).singleElement().isInstanceOf(InterruptedException.class);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void interruptOfTheCallersOwnIsKept() throws InterruptedException {
    // When
    client.runWithLock(REQUEST, lock -> Thread.currentThread().interrupt());
    boolean kept = Thread.interrupted();
    // Then
    assertThat(kept).isTrue();
    await().until(() -> releases() == 1);
  }

  @Test
  void taskIsInterruptedThoughNoCallbackCanRun() {
    // Given
    try (LockkeeperClient deaf =
        LockkeeperClient.builder("scripted")
            .channels(address -> server.connect())
            .clock(scripted.clock)
            .callbackExecutor(callback -> {})
            .build()) {
      // When / Then
      assertThatThrownBy(
              () ->
                  deaf.runWithLock(
                      REQUEST,
                      lock -> {
                        takeAway();
                        awaitInterrupt();
                      }))
          .isInstanceOf(LockLostException.class);
    }
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void clientThatIsClosedByATaskWaitsForTheServerAndTheTaskIsInterruptedThen() {
    // Given
    List<String> order = new CopyOnWriteArrayList<>();
    AtomicBoolean interrupted = new AtomicBoolean();
    Thread worker = Thread.currentThread();
    server.script(
        (request, stream) -> {
          if (request.hasClose()) {
            Thread.State unused = stateOnceSettled(worker);
            order.add("ended");
          }
          answer(request, stream);
        });
    // When
    Throwable thrown =
        catchThrowable(
            () ->
                client.runWithLock(
                    REQUEST,
                    lock -> {
                      client.close();
                      order.add("closed");
                      interrupted.set(Thread.currentThread().isInterrupted());
                    }));
    // Then
    assertThat(thrown)
        .isInstanceOfSatisfying(
            LockLostException.class,
            e -> assertThat(e.reason()).isEqualTo(LossReason.LEASE_CLOSED));
    assertThat(order).containsExactly("ended", "closed");
    assertThat(interrupted).isTrue();
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void leaderThatWasDeposedReturnsToTheQueueUntilItsTaskIsDone() throws InterruptedException {
    // Given
    List<Long> terms = new ArrayList<>();
    LeaderElection election = client.asElection(LOCK);
    // When
    election.run(
        "http://10.0.0.7:8080",
        leadership -> {
          terms.add(leadership.fencingToken());
          if (terms.size() < 3) {
            takeAway();
            awaitInterrupt();
          }
        });
    // Then
    assertThat(terms).containsExactly(1L, 2L, 3L);
    assertThat(releases()).isEqualTo(1);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void whatALeaderThrowsThatHasLostIsLogged() throws InterruptedException {
    // Given
    ListAppender<ILoggingEvent> logged = new ListAppender<>();
    Logger logger = (Logger) LoggerFactory.getLogger(LeaderElection.class);
    logged.start();
    logger.addAppender(logged);
    AtomicInteger terms = new AtomicInteger();
    // When
    client
        .asElection(LOCK)
        .run(
            "",
            leadership -> {
              if (terms.incrementAndGet() == 1) {
                takeAway();
                await().until(() -> !leadership.isValid());
                throw new IllegalStateException("disk full");
              }
            });
    logger.detachAppender(logged);
    // Then
    assertThat(terms).hasValue(2);
    assertThat(logged.list)
        .singleElement()
        .satisfies(
            event -> {
              assertThat(event.getLevel()).isEqualTo(Level.WARN);
              assertThat(event.getThrowableProxy().getMessage()).isEqualTo("disk full");
            });
  }

  @Test
  void interruptOfTheCallersEndsTheElectionThoughTheLeadershipIsLostMeanwhile() {
    // Given
    LeaderElection election = client.asElection(LOCK);
    // When / Then
    assertThatThrownBy(
            () ->
                election.run(
                    "",
                    leadership -> {
                      Thread.currentThread().interrupt();
                      takeAway();
                      while (leadership.isValid()) {
                        Thread.onSpinWait(); // Whoever waits otherwise takes the interrupt.
                      }
                    }))
        .isInstanceOf(InterruptedException.class);
    assertThat(grants).hasValue(1);
  }

  @Test
  void leaderThatResignsEndsItsTermAtOnceAndTheRunWithItsTask() throws InterruptedException {
    // Given
    AtomicLong releasedMeanwhile = new AtomicLong();
    LeaderElection election = client.asElection(LOCK);
    // When
    election.run(
        "",
        leadership -> {
          leadership.resign();
          releasedMeanwhile.set(releases());
        });
    // Then
    assertThat(releasedMeanwhile).hasValue(1);
    assertThat(grants).hasValue(1);
    assertThat(releases()).isEqualTo(1);
  }

  @Test
  void electionEndsWithItsClient() throws Exception {
    // Given
    CompletableFuture<Void> ended = new CompletableFuture<>();
    CountDownLatch leading = new CountDownLatch(1);
    Thread leader =
        new Thread(
            () -> {
              try {
                client
                    .asElection(LOCK)
                    .run(
                        "",
                        leadership -> {
                          leading.countDown();
                          awaitInterrupt();
                        });
                ended.complete(null);
              } catch (InterruptedException | RuntimeException e) {
                ended.completeExceptionally(e);
              }
            });
    leader.start();
    leading.await();
    // When
    client.close();
    leader.join();
    // Then
    assertThat(ended).isCompleted();
  }

  @Test
  void interruptedWaiterHasLeftTheQueueWhenItHearsOfIt() throws InterruptedException {
    // Given
    AtomicReference<Thread.State> whenAnswered = new AtomicReference<>();
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread waiter =
        new Thread(() -> thrown.set(catchThrowable(() -> client.asLock(LOCK).lockInterruptibly())));
    server.script(
        (request, stream) -> {
          ScriptedServer.keepAlive(request, stream);
          if (request.hasRelease()) {
            whenAnswered.set(stateOnceSettled(waiter));
            stream.onNext(
                ScriptedServer.released(
                    request.getRelease().getRequestId(), ReleaseOutcome.RELEASE_OUTCOME_WITHDRAWN));
          }
        });
    waiter.start();
    awaitRequest();
    // When
    waiter.interrupt();
    waiter.join();
    // Then
    assertThat(whenAnswered.get()).isEqualTo(Thread.State.TIMED_WAITING);
    assertThat(thrown.get())
        .isInstanceOf(InterruptedException.class)
        .hasMessageContaining(LOCK)
        .hasMessageContaining("it has left the queue");
  }

  private void awaitRequest() {
    await().until(() -> server.streamCount() == 1 && !server.wishes().isEmpty());
  }

  /** The waiter has asked to be withdrawn: now it either waits for the answer or has gone. */
  private static Thread.State stateOnceSettled(Thread waiter) {
    Thread.State state = waiter.getState();
    while (state != Thread.State.TIMED_WAITING && state != Thread.State.TERMINATED) {
      Thread.onSpinWait();
      state = waiter.getState();
    }
    return state;
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void interruptedWaiterIsToldWhatBecameOfItsPlace(boolean leaseEnds) throws InterruptedException {
    // Given
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread waiter = new Thread(() -> thrown.set(catchThrowable(() -> client.lock(LOCK))));
    server.script(
        (request, stream) -> {
          ScriptedServer.keepAlive(request, stream);
          if (leaseEnds && request.hasRelease()) {
            SessionResponse.Builder ended = SessionResponse.newBuilder();
            stream.onNext(ended.setLeaseEnded(LeaseEnded.getDefaultInstance()).build());
          }
        });
    waiter.start();
    awaitRequest();
    // When
    waiter.interrupt();
    waiter.join();
    // Then
    assertThat(thrown.get())
        .isInstanceOf(InterruptedException.class)
        .hasMessageContaining(
            leaseEnds
                ? "its lease is over, and its place in the queue goes with it"
                : "no server has confirmed");
  }

  @Test
  void failureOfACallShowsWhoMadeTheCall() {
    // Given
    server.script(
        (request, stream) -> {
          ScriptedServer.keepAlive(request, stream);
          if (request.hasAcquire()) {
            String id = request.getAcquire().getRequestId();
            stream.onNext(ScriptedServer.refused(id, Status.Code.INVALID_ARGUMENT));
          }
        });
    // When
    Throwable thrown = catchThrowable(() -> client.lock(LOCK));
    // Then
    assertThat(thrown)
        .isInstanceOfSatisfying(
            RequestRefusedException.class,
            e -> assertThat(e.code()).isEqualTo(Status.Code.INVALID_ARGUMENT))
        .hasNoSuppressedExceptions();
    assertThat(thrown.getStackTrace())
        .anyMatch(frame -> frame.getClassName().startsWith(LockedTaskTest.class.getName()));
  }
}
