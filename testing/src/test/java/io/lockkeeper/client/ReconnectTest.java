package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.testing.ManualClock;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How soon, how often and where a client connects again. */
class ReconnectTest {

  private static final String LOCK = "orders/42";

  private final ManualClock clock = new ManualClock();
  private final ScriptedServer first = new ScriptedServer(clock);
  private final ScriptedServer second = new ScriptedServer(clock);
  private final List<String> tried = new CopyOnWriteArrayList<>();
  private final LockkeeperClient client =
      LockkeeperClient.builder("first:1,second:2")
          .channels(this::connect)
          .clock(clock)
          .callbackExecutor(Runnable::run)
          .build();

  /** What a server does that is of no use. */
  enum Useless implements BiConsumer<SessionRequest, StreamObserver<SessionResponse>> {
    REFUSES {
      @Override
      public void accept(SessionRequest request, StreamObserver<SessionResponse> stream) {
        stream.onError(Status.UNAVAILABLE.asRuntimeException());
      }
    },
    OPENS_AND_BREAKS {
      @Override
      public void accept(SessionRequest request, StreamObserver<SessionResponse> stream) {
        ScriptedServer.answerOpen(request, stream);
        stream.onError(Status.UNAVAILABLE.asRuntimeException());
      }
    },
    OPENS_AND_GOES_AWAY {
      @Override
      public void accept(SessionRequest request, StreamObserver<SessionResponse> stream) {
        if (request.hasOpen()) {
          ScriptedServer.answerOpen(request, stream);
          stream.onNext(ScriptedServer.goingAway());
          stream.onCompleted();
        }
      }
    },
    GOES_AWAY_AT_ONCE {
      @Override
      public void accept(SessionRequest request, StreamObserver<SessionResponse> stream) {
        stream.onNext(ScriptedServer.goingAway());
        stream.onCompleted();
      }
    },
    SAYS_NOTHING {
      @Override
      public void accept(SessionRequest request, StreamObserver<SessionResponse> stream) {}
    },
    OPENS_AND_SAYS_NOTHING {
      @Override
      public void accept(SessionRequest request, StreamObserver<SessionResponse> stream) {
        ScriptedServer.answerOpen(request, stream);
      }
    }
  }

  @AfterEach
  void stop() {
    List.of(first, second).forEach(server -> server.script(ScriptedServer::keepAlive));
    clock.advance(Duration.ofSeconds(5));
    client.close();
    first.close();
    second.close();
  }

  private ManagedChannel connect(String address) {
    tried.add(address);
    return address.equals("first:1") ? first.connect() : second.connect();
  }

  private LockHandle hold() {
    LockHandle held = first.hold(client, LOCK);
    clock.advance(Duration.ofSeconds(3));
    return held;
  }

  @Test
  void nextServerIsTriedAtOnceWhenAGoodStreamBreaks() {
    // Given
    LockHandle held = hold();
    // When
    first.end(Status.UNAVAILABLE);
    // Then
    assertThat(held.isValid()).isTrue();
    assertThat(tried).containsExactly("first:1", "second:2");
  }

  @ParameterizedTest
  @EnumSource(Useless.class)
  void uselessServersAreNotStormedAndTheGoodOneIsFoundWhenItIsBack(Useless what) {
    // Given
    LockHandle held = hold();
    first.script(what);
    second.script(what);
    // When
    first.end(Status.UNAVAILABLE);
    clock.advance(Duration.ofSeconds(8));
    int attempts = tried.size();
    second.script(ScriptedServer::keepAlive);
    clock.advance(Duration.ofSeconds(9));
    int found = tried.size();
    clock.advance(Duration.ofMinutes(1));
    // Then
    assertThat(attempts).isBetween(3, 20);
    assertThat(held.isValid()).isTrue();
    assertThat(tried).hasSize(found).endsWith("second:2");
  }

  @Test
  void serverThatWantsToBeLeftAloneIsNotAskedMeanwhileAndTheNextIsAskedAtOnce() {
    // Given
    LockHandle held = hold();
    second.script(Useless.REFUSES);
    // When
    first.end(ScriptedServer.busyFor(Duration.ofSeconds(4)));
    List<String> atOnce = List.copyOf(tried);
    clock.advance(Duration.ofMillis(3_999));
    List<String> meanwhile = List.copyOf(tried);
    // The delay has jitter, and the backoff adds up to two seconds to it.
    clock.advance(Duration.ofSeconds(6));
    // Then
    assertThat(atOnce).containsExactly("first:1", "second:2");
    assertThat(meanwhile).containsOnlyOnce("first:1");
    assertThat(tried).endsWith("first:1");
    assertThat(held.isValid()).isTrue();
  }
}
