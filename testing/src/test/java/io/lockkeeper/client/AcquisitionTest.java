package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.lockkeeper.client.internal.acquisition.Acquisition;
import io.lockkeeper.client.internal.acquisition.HoldState;
import io.lockkeeper.client.internal.acquisition.SessionLink;
import io.lockkeeper.client.internal.context.ClientContext;
import io.lockkeeper.client.internal.context.Settings;
import io.lockkeeper.client.internal.lease.Validity;
import io.lockkeeper.client.internal.loop.Backoff;
import io.lockkeeper.client.internal.loop.Callbacks;
import io.lockkeeper.client.internal.loop.CallerRuns;
import io.lockkeeper.client.internal.loop.Loop;
import io.lockkeeper.client.internal.protocol.Protos;
import io.lockkeeper.client.internal.telemetry.Telemetry;
import io.lockkeeper.client.internal.transport.Discovery;
import io.lockkeeper.client.internal.transport.Target;
import io.lockkeeper.testing.ManualClock;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Grant;
import io.lockkeeper.v1.Granted;
import io.lockkeeper.v1.Refused;
import io.lockkeeper.v1.SessionRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** What a request makes of the server's refusals. */
class AcquisitionTest {

  private static final Refused UNAVAILABLE =
      Refused.newBuilder()
          .setCode(Status.Code.UNAVAILABLE.value())
          .setRetryAfter(Protos.toProto(Duration.ofSeconds(1)))
          .build();

  private final ManualClock clock = new ManualClock();

  @AutoClose("stop")
  private final Loop loop = Loop.on(clock, "lockkeeper-client");

  private final Settings settings =
      new Settings(
          Target.parseList("in-memory"),
          Optional.empty(),
          address -> {
            throw new AssertionError("connects to " + address);
          },
          Optional.empty(),
          "",
          Duration.ofMinutes(1),
          Optional.empty(),
          Optional.of(Runnable::run),
          CallerRuns.NEVER,
          Telemetry.NONE,
          Optional.of(clock),
          false);
  private final ClientContext context =
      new ClientContext(
          settings,
          loop,
          Callbacks.on(settings.callbacks()),
          new Backoff(new SplittableRandom(1)),
          new Discovery(settings.servers(), settings.resolver(), 1));
  private final Sent link = new Sent();
  private final Acquisition acquisition =
      new Acquisition("request", LockRequest.of("orders/42"), context, link);

  private void onLoop(Runnable task) {
    loop.execute(task);
    clock.settle();
  }

  @Test
  void grantThatComesAfterAPassingRefusalIsTaken() {
    // Given
    onLoop(acquisition::start);
    onLoop(() -> acquisition.onRefused(UNAVAILABLE));
    // When
    onLoop(
        () ->
            acquisition.onEvent(
                AcquireResponse.newBuilder()
                    .setSequence(1)
                    .setGranted(
                        Granted.newBuilder().addGrants(Grant.newBuilder().setFencingToken(7)))
                    .build()));
    // Then
    assertThat(acquisition.result()).isCompleted();
    assertThat(acquisition.result().join().fencingToken()).isEqualTo(7);
  }

  @Test
  void grantThatCrossesTheCallersLeavingIsReleasedAndNotTold() {
    // Given
    Recording heard = new Recording();
    Acquisition mine =
        new Acquisition("mine", LockRequest.of("orders/42").listener(heard), context, link);
    onLoop(mine::start);
    mine.becomeUnwanted();
    // When
    onLoop(
        () ->
            mine.onEvent(
                AcquireResponse.newBuilder()
                    .setSequence(1)
                    .setGranted(
                        Granted.newBuilder().addGrants(Grant.newBuilder().setFencingToken(7)))
                    .build()));
    onLoop(mine::withdraw);
    // Then
    assertThat(heard.events()).isEmpty();
    assertThat(mine.result())
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .withCauseInstanceOf(NotAcquiredException.class);
    assertThat(link.sent).last().matches(SessionRequest::hasRelease);
  }

  @Test
  void requestThatIsRefusedForGoodFailsWithCodeAndField() {
    // Given
    onLoop(acquisition::start);
    Refused malformed =
        Refused.newBuilder()
            .setCode(Status.Code.INVALID_ARGUMENT.value())
            .setField("locks[0].custom")
            .build();
    // When
    onLoop(() -> acquisition.onRefused(malformed));
    // Then
    assertThat(acquisition.result())
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .havingCause()
        .isInstanceOfSatisfying(
            RequestRefusedException.class,
            e -> {
              assertThat(e.code()).isEqualTo(Status.Code.INVALID_ARGUMENT);
              assertThat(e.field()).isEqualTo("locks[0].custom");
            });
  }

  @Test
  void refusalsInARowLeaveOneRetry() {
    // Given
    onLoop(acquisition::start);
    onLoop(acquisition::releaseAnything);
    int before = link.sent.size();
    // When
    for (int i = 0; i < 5; i++) {
      onLoop(() -> acquisition.onReleaseRefused(UNAVAILABLE));
    }
    clock.advance(Duration.ofSeconds(5));
    // Then
    assertThat(link.sent.subList(before, link.sent.size()))
        .singleElement()
        .matches(SessionRequest::hasRelease);
  }

  /** A session that is always open, and that nobody answers. */
  private static final class Sent implements SessionLink {
    private final List<SessionRequest> sent = new ArrayList<>();

    @Override
    public boolean send(SessionRequest request) {
      return sent.add(request);
    }

    @Override
    public LockkeeperException unavailable(String locks) {
      return new ServerUnavailableException("nobody answers");
    }

    @Override
    public Validity validity() {
      return new Validity(0, 0);
    }

    @Override
    public HoldState.LimitedHolds limitedHolds() {
      return new HoldState.LimitedHolds();
    }

    @Override
    public void ended(Acquisition mine) {}
  }
}
