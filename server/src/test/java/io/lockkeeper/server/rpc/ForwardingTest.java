package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.rpc.RetryInfo;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.grpc.protobuf.StatusProto;
import io.lockkeeper.server.coordinator.api.Coordinator.OpenedLease;
import io.lockkeeper.server.coordinator.api.LeaseLocation;
import io.lockkeeper.server.core.api.Failure.Reason;
import io.lockkeeper.server.rpc.forward.PeerLimits;
import io.lockkeeper.server.rpc.wire.NamedLease;
import io.lockkeeper.server.testing.ViewSamples;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.OpenLeaseResponse;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Unary calls at a coordinator that does not serve their lease. */
class ForwardingTest {

  private static final LeasedCall<?, ?, ?> RELEASE = LeasedCall.all().get(0);

  private static final PeerLimits ONE_WAITS =
      new PeerLimits(
          Duration.ofMinutes(10),
          Duration.ofMillis(10),
          1,
          Node.LIMITS.quiet(),
          Node.LIMITS.silence());

  @AutoClose private final Node here = Node.start("here");
  @AutoClose private final Node there = Node.start("there");

  /** Makes a call that waits for somebody to serve its lease. */
  private static Received<?, ?> firstWaits(Node node) {
    node.coordinator.servedBy(new LeaseLocation.Nowhere());
    Received<?, ?> first = RELEASE.on(node.channel);
    RELEASE.refuse(node, Reason.UNKNOWN_LEASE);
    node.coordinator.awaitLocated(2);
    return first;
  }

  static List<LeasedCall<?, ?, ?>> calls() {
    return LeasedCall.all();
  }

  @Test
  void everyMethodWhoseFirstRequestMayNameALeaseIsRouted() {
    // When
    List<String> routed =
        Stream.of(LockServiceGrpc.getServiceDescriptor(), LeaseServiceGrpc.getServiceDescriptor())
            .flatMap(service -> service.getMethods().stream())
            .filter(NamedLease::mayBeIn)
            .map(method -> String.valueOf(method.getBareMethodName()))
            .toList();
    // Then
    assertThat(routed)
        .containsExactlyInAnyOrder(
            "Acquire",
            "Release",
            "AnswerRelease",
            "UpdateMetadata",
            "Session",
            "OpenLease",
            "RenewLease",
            "CloseLease",
            "GetLease");
  }

  @ParameterizedTest
  @MethodSource("calls")
  void callForALeaseOfAnotherCoordinatorIsForwardedExactlyOnce(LeasedCall<?, ?, ?> call) {
    // Given
    here.knows(there);
    // When
    Received<?, ?> client = call.on(here.channel);
    call.refuse(here, Reason.UNKNOWN_LEASE);
    call.answer(there);
    // Then
    assertThat(client.next()).isNotNull();
    assertThat(client.end().isOk()).isTrue();
    assertThat(here.stats().forwarded.sum()).isOne();
    assertThat(here.coordinator.located()).isOne();
    assertThat(there.coordinator.located()).isZero();
  }

  @ParameterizedTest
  @MethodSource("calls")
  void callForALeaseThatHasJustMovedIsForwarded(LeasedCall<?, ?, ?> call) {
    // Given
    here.knows(there);
    // When
    Received<?, ?> client = call.on(here.channel);
    call.refuse(here, Reason.MOVED);
    call.answer(there);
    // Then
    assertThat(client.next()).isNotNull();
    assertThat(client.end().isOk()).isTrue();
  }

  private void meet() {
    here.coordinator.meets(there.peer());
    assertThat(here.coordinator.peersServing.next()).isOne();
  }

  @Test
  void releaseOfALockWhoseLeaseIsACallElsewhereFindsIt() {
    // Given: such a lease has no record
    here.coordinator.servedBy(new LeaseLocation.Unknown());
    meet();
    // When
    Received<?, ?> client = RELEASE.on(here.channel);
    RELEASE.refuse(here, Reason.UNKNOWN_LEASE);
    RELEASE.answer(there);
    // Then
    assertThat(client.next()).isNotNull();
    assertThat(client.end().isOk()).isTrue();
  }

  @Test
  void releaseOfALockThatNoPeerKnowsEitherIsNotFound() {
    // Given
    here.coordinator.servedBy(new LeaseLocation.Unknown());
    meet();
    // When
    Received<?, ?> client = RELEASE.on(here.channel);
    RELEASE.refuse(here, Reason.UNKNOWN_LEASE);
    RELEASE.refuse(there, Reason.UNKNOWN_LEASE);
    // Then
    assertThat(client.end().getCode()).isEqualTo(Code.NOT_FOUND);
  }

  @Test
  void releaseOfALockThatAPeerOutOfReachMayKnowIsNotDecided() {
    // Given
    here.coordinator.servedBy(new LeaseLocation.Unknown());
    meet();
    there.die();
    // When
    Received<?, ?> client = RELEASE.on(here.channel);
    RELEASE.refuse(here, Reason.UNKNOWN_LEASE);
    // Then
    assertThat(client.end().getCode()).isEqualTo(Code.UNAVAILABLE);
  }

  @Test
  void openOfALeaseThatIsGoneFromWhereItWasIsDoneHere() {
    // Given: another coordinator had a lease of that secret, and it has ended since
    here.coordinator.servedBy(new LeaseLocation.Unknown());
    String secret = "0123456789abcdef0123456789abcdef";
    Received<OpenLeaseRequest, OpenLeaseResponse> client = Received.all();
    here.leases().openLease(OpenLeaseRequest.newBuilder().setLeaseSecret(secret).build(), client);
    // When
    here.coordinator
        .openLeases
        .next()
        .answer()
        .completeExceptionally(ViewSamples.refused(Reason.MOVED));
    here.coordinator
        .openLeases
        .next()
        .answer()
        .complete(new OpenedLease(ViewSamples.opened(), secret));
    // Then
    assertThat(client.next().getLeaseId()).isNotEmpty();
    assertThat(client.end().isOk()).isTrue();
  }

  @ParameterizedTest
  @MethodSource("calls")
  void callForALeaseThatNobodyKnowsIsNotFound(LeasedCall<?, ?, ?> call) {
    // Given
    here.coordinator.servedBy(new LeaseLocation.Unknown());
    // When
    Received<?, ?> client = call.on(here.channel);
    call.refuse(here, Reason.UNKNOWN_LEASE);
    // Then
    assertThat(client.end().getCode()).isEqualTo(Code.NOT_FOUND);
  }

  @Test
  void refusalOfThePeerComesWithItsDetails() {
    // Given
    here.knows(there);
    // When
    Received<?, ?> client = RELEASE.on(here.channel);
    RELEASE.refuse(here, Reason.UNKNOWN_LEASE);
    RELEASE.refuse(there, Reason.UNAVAILABLE);
    // Then
    Throwable failure = client.failure();
    assertThat(Status.fromThrowable(failure).getCode()).isEqualTo(Code.UNAVAILABLE);
    assertThat(Status.fromThrowable(failure).getDescription()).isEqualTo("because of UNAVAILABLE");
    assertThat(StatusProto.fromThrowable(failure).getDetailsList())
        .anyMatch(detail -> detail.is(RetryInfo.class));
  }

  @Test
  void twoCoordinatorsThatPointAtEachOtherDoNotForwardInCircles() {
    // Given
    try (Node asked = Node.start("asked", patience(Duration.ofMillis(300)))) {
      asked.knows(there);
      there.knows(asked);
      // When
      Received<?, ?> client = RELEASE.on(asked.channel);
      RELEASE.refuse(asked, Reason.UNKNOWN_LEASE);
      while (!client.hasEnded()) {
        there
            .coordinator
            .releases
            .poll()
            .ifPresent(
                release ->
                    release
                        .answer()
                        .completeExceptionally(ViewSamples.refused(Reason.UNKNOWN_LEASE)));
      }
      // Then
      assertThat(client.end().getCode()).isEqualTo(Code.UNAVAILABLE);
      assertThat(there.coordinator.located()).isZero();
      assertThat(asked.coordinator.releases.isEmpty()).isTrue();
    }
  }

  private static PeerLimits patience(Duration patience) {
    return new PeerLimits(
        patience,
        Node.LIMITS.pause(),
        Node.LIMITS.maxWaiting(),
        Node.LIMITS.quiet(),
        Node.LIMITS.silence());
  }

  @Test
  void callWaitsForALeaseThatNobodyServesUntilSomebodyDoes() {
    // Given
    Queue<LeaseLocation> answers =
        new ConcurrentLinkedQueue<>(
            List.of(
                new LeaseLocation.Nowhere(),
                new LeaseLocation.Nowhere(),
                new LeaseLocation.At(there.peer())));
    here.coordinator.servedBy(lease -> answers.remove());
    // When
    Received<?, ?> client = RELEASE.on(here.channel);
    RELEASE.refuse(here, Reason.UNKNOWN_LEASE);
    RELEASE.answer(there);
    // Then
    assertThat(client.end().isOk()).isTrue();
    assertThat(answers).isEmpty();
  }

  @Test
  void callIsTriedAgainHereWhenTheLeaseHasComeHere() {
    // Given
    here.coordinator.servedBy(new LeaseLocation.Here());
    // When
    Received<?, ?> client = RELEASE.on(here.channel);
    RELEASE.refuse(here, Reason.UNKNOWN_LEASE);
    RELEASE.refuse(here, Reason.UNKNOWN_LEASE);
    RELEASE.answer(here);
    // Then
    assertThat(client.next()).isNotNull();
    assertThat(client.end().isOk()).isTrue();
    assertThat(here.stats().forwarded.sum()).isZero();
  }

  @Test
  void callThatWaitedLongEnoughIsToldToComeAgain() {
    // Given
    try (Node node = Node.start("impatient", patience(Duration.ofMillis(50)))) {
      node.coordinator.servedBy(new LeaseLocation.Nowhere());
      // When
      Received<?, ?> client = RELEASE.on(node.channel);
      RELEASE.refuse(node, Reason.UNKNOWN_LEASE);
      // Then
      Throwable failure = client.failure();
      assertThat(Status.fromThrowable(failure).getCode()).isEqualTo(Code.UNAVAILABLE);
      assertThat(StatusProto.fromThrowable(failure).getDetailsList())
          .anyMatch(detail -> detail.is(RetryInfo.class));
    }
  }

  @Test
  void onlySoManyCallsWaitAtATime() {
    // Given
    try (Node node = Node.start("full", ONE_WAITS)) {
      Received<?, ?> first = firstWaits(node);
      // When
      Received<?, ?> second = RELEASE.on(node.channel);
      RELEASE.refuse(node, Reason.UNKNOWN_LEASE);
      // Then
      assertThat(second.end().getDescription()).contains("too many requests wait");
      // When
      first.cancel();
      assertThat(first.end().getCode()).isEqualTo(Code.CANCELLED);
      node.coordinator.servedBy(new LeaseLocation.Unknown());
    }
  }

  @Test
  void callThatHasFoundItsWayLeavesItsPlaceToOthersThatWait() {
    // Given
    try (Node node = Node.start("full", ONE_WAITS)) {
      Received<?, ?> first = firstWaits(node);
      node.knows(there);
      there.coordinator.releases.next();
      // When
      node.coordinator.servedBy(new LeaseLocation.Nowhere());
      Received<?, ?> second = RELEASE.on(node.channel);
      RELEASE.refuse(node, Reason.UNKNOWN_LEASE);
      node.coordinator.awaitLocated(node.coordinator.located() + 2);
      node.knows(there);
      RELEASE.answer(there);
      // Then
      assertThat(second.end().isOk()).isTrue();
      assertThat(first.hasEnded()).isFalse();
    }
  }

  @Test
  void callIsForwardedAgainWhenThePeerDoesNotServeTheLeaseAnyMore() {
    // Given
    here.knows(there);
    // When
    Received<?, ?> client = RELEASE.on(here.channel);
    RELEASE.refuse(here, Reason.UNKNOWN_LEASE);
    RELEASE.refuse(there, Reason.MOVED);
    RELEASE.answer(there);
    // Then
    assertThat(client.end().isOk()).isTrue();
    assertThat(here.stats().forwarded.sum()).isOne();
  }

  @Test
  void callGoesToTheHeirWhenThePeerDiesBeforeItAnswers() {
    // Given
    here.knows(there);
    try (Node heir = Node.start("heir")) {
      Received<?, ?> client = RELEASE.on(here.channel);
      RELEASE.refuse(here, Reason.UNKNOWN_LEASE);
      there.coordinator.releases.next();
      // When
      here.knows(heir);
      there.die();
      RELEASE.answer(heir);
      // Then
      assertThat(client.end().isOk()).isTrue();
    }
  }

  @Test
  void cancelledCallWaitsNoLonger() {
    // Given
    here.coordinator.servedBy(new LeaseLocation.Nowhere());
    Received<?, ?> client = RELEASE.on(here.channel);
    RELEASE.refuse(here, Reason.UNKNOWN_LEASE);
    here.coordinator.awaitLocated(2);
    // When
    client.cancel();
    // Then
    here.coordinator.awaitNobodyLocates();
  }
}
