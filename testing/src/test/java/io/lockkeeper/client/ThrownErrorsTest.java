package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.lockkeeper.client.internal.transport.Discovery;
import io.lockkeeper.client.internal.transport.Target;
import io.lockkeeper.client.internal.views.DerivedFutures;
import io.lockkeeper.testing.InMemoryLockkeeper;
import io.lockkeeper.testing.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** What becomes of an {@link Error} that is thrown where nobody of the caller's is. */
class ThrownErrorsTest {

  private static final String LOCK = "orders/42";
  private static final Duration LONG = Duration.ofMinutes(1);

  private final ManualClock clock = new ManualClock();
  @AutoClose private final InMemoryLockkeeper server = InMemoryLockkeeper.start(clock);
  private final AtomicInteger connected = new AtomicInteger();

  private LockkeeperClient client(Function<String, ManagedChannel> channels) {
    return LockkeeperClient.builder("in-memory")
        .channels(channels)
        .clock(clock)
        .callbackExecutor(Runnable::run)
        .build();
  }

  private ManagedChannel connectButNotAtFirst(String address) {
    if (connected.getAndIncrement() == 0) {
      throw new NoClassDefFoundError(address);
    }
    return server.connect();
  }

  @Test
  void errorOfAnAsynchronousQuestionIsItsAnswer() {
    // Given
    try (LockkeeperClient client =
        client(
            address -> {
              throw new NoClassDefFoundError(address);
            })) {
      // When
      CompletableFuture<LockInfo> asked = client.async().getLock(LOCK);
      // Then
      assertThat(asked)
          .failsWithin(LONG)
          .withThrowableThat()
          .withCauseInstanceOf(NoClassDefFoundError.class);
    }
  }

  @Test
  void clientWhoseChannelCouldNotBeMadeTriesAgain() {
    // Given
    try (LockkeeperClient client = client(this::connectButNotAtFirst)) {
      CompletableFuture<LockHandle> asked = client.acquire(LockRequest.of(LOCK));
      // When
      clock.advance(Duration.ofSeconds(1));
      // Then
      assertThat(asked).isCompleted();
    }
  }

  @Test
  void watchWhoseChannelCouldNotBeMadeTriesAgain() {
    // Given
    RecordingWatch told = new RecordingWatch();
    try (LockkeeperClient client = client(this::connectButNotAtFirst);
        Watch watch = client.watchLocks(List.of(LOCK), told)) {
      // When
      clock.advance(Duration.ofSeconds(1));
      // Then
      assertThat(watch).isNotNull();
      assertThat(told.events()).containsExactly("end");
    }
  }

  @Test
  void lookupThatThrowsAnErrorIsOneThatFails() {
    // Given
    Target.Resolver broken =
        host -> {
          throw new NoClassDefFoundError(host);
        };
    try (Discovery discovery =
        new Discovery(Target.parseList("lockkeeper.example"), Optional.of(broken), 1)) {
      // When // Then
      assertThat(discovery.resolve())
          .succeedsWithin(LONG)
          .asInstanceOf(InstanceOfAssertFactories.LIST)
          .singleElement()
          .hasToString("lockkeeper.example:7420");
    }
  }

  @Test
  void lockWhoseHandleCannotBeTurnedIntoWhatWasAskedForIsReleased() {
    // Given
    try (LockkeeperClient client = client(address -> server.connect())) {
      // When
      CompletableFuture<Object> asked =
          DerivedFutures.map(
              client.acquire(LockRequest.of(LOCK)),
              handle -> {
                throw new StackOverflowError();
              });
      clock.settle();
      // Then
      assertThat(asked)
          .failsWithin(Duration.ZERO)
          .withThrowableThat()
          .withCauseInstanceOf(StackOverflowError.class);
      assertThat(server.holderToken(LOCK)).isEmpty();
    }
  }
}
