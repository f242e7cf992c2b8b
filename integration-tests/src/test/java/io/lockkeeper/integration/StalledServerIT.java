package io.lockkeeper.integration;

import static io.grpc.health.v1.HealthCheckResponse.ServingStatus.SERVING;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.KeepAlives;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.integration.harness.Timed.Arrival;
import io.lockkeeper.integration.harness.Znodes;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** A server that is paused as a whole, as by a debugger, a full host or a live migration. */
final class StalledServerIT {

  @Test
  void leasesSurviveAPauseLongerThanTheirTtl() {
    // Given
    Duration ttl = Duration.ofSeconds(4);
    try (Rig rig = Rig.start(Rig.shortSessions(20))) {
      ManagedChannel channel = rig.connect();
      SessionStream session = SessionStream.open(channel, ttl);
      session.awaitOpened();
      session.acquire("stall/lock", "held");
      session.await("held", EventCase.GRANTED);
      Asking waiter = Asking.forLock(channel, "stall/lock");
      waiter.await(EventCase.QUEUED);

      // When
      try (KeepAlives keepAlives = KeepAlives.of(session, Duration.ofMillis(500))) {
        pause(rig, ttl.multipliedBy(3).dividedBy(2));
        session.keepAliveAnswered(1);
        session.keepAliveAnswered(2);
      }

      // Then
      assertThat(session.responses().find(r -> r.hasLeaseEnded())).isEmpty();
      assertThat(session.responses().find(r -> r.hasEvent() && r.getEvent().hasLost())).isEmpty();
      assertThat(waiter.find(EventCase.GRANTED)).isEmpty();
      session.close();
      waiter.awaitGrant();
    }
  }

  @Test
  void pauseBeyondTheSessionIsLostAsSoonAsTheServerWakes() throws Exception {
    // Given
    try (Rig rig = Rig.start(Rig.shortSessions(4));
        Znodes znodes = Znodes.at(rig.zookeeper().connectString())) {
      Asking holder = Asking.forLock(rig.connect(), "stall/long");
      holder.awaitGrant();
      String entry = Znodes.directory("stall/long") + "/" + znodes.entries("stall/long").get(0);
      CompletableFuture<Long> gone = znodes.deletionOf(entry);

      // When
      rig.server().pause();
      gone.get(30, TimeUnit.SECONDS);
      rig.server().resume();

      // Then
      Arrival<AcquireResponse> lost = holder.await(EventCase.LOST);
      assertThat(lost.value().getLost().getReason().name()).isEqualTo("LOSS_REASON_SESSION_LOST");
      rig.server().awaitHealth(SERVING);
      Asking.forLock(rig.connect(), "stall/long").awaitGrant();
    }
  }

  private static void pause(Rig rig, Duration length) {
    rig.server().pause();
    Awaitility.await().pollDelay(length).atMost(length.multipliedBy(2)).until(() -> true);
    rig.server().resume();
  }
}
