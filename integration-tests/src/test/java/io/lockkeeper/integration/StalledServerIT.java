package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.lockkeeper.integration.failover.Pace;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.KeepAlives;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.integration.harness.Znodes;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.LossReason;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A server that is paused as a whole, as by a debugger, a full host or a live migration. */
final class StalledServerIT {

  @Test
  void leasesSurviveAPauseLongerThanTheirTtl() {
    // Given
    Duration ttl = Duration.ofSeconds(6);
    try (ServerProcess server = Rig.server("/stall")) {
      ManagedChannel channel = server.connect();
      SessionStream session = SessionStream.open(channel, ttl);
      session.acquire("stall/lock", "held");
      session.await("held", EventCase.GRANTED);
      Asking waiter = Asking.forLock(channel, "stall/lock");
      waiter.await(EventCase.QUEUED);

      // When
      try (KeepAlives keepAlives = KeepAlives.of(session, Duration.ofMillis(500))) {
        server.pause();
        Pace.letPass(ttl.plusSeconds(2));
        server.resume();
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
    String zookeeper = Rig.shared().zookeeper().connectString();
    try (ServerProcess server = Rig.server("/stall-long", Rig.shortSessions(15));
        Znodes znodes = Znodes.at(zookeeper, "/stall-long/locks")) {
      Asking holder = Asking.forLock(server.connect(), "stall/long");
      holder.awaitGrant();
      String entry = znodes.pathOf("stall/long") + "/" + znodes.entries("stall/long").get(0);
      CompletableFuture<Long> gone = znodes.deletionOf(entry);

      // When
      server.pause();
      gone.get(1, TimeUnit.MINUTES);
      server.resume();

      // Then
      assertThat(holder.await(EventCase.LOST).value().getLost().getReason())
          .isEqualTo(LossReason.LOSS_REASON_SESSION_LOST);
      Asking.retryUntilGranted(server.connect(), "stall/long");
    }
  }
}
