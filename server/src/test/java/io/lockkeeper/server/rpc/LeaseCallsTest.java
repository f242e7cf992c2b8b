package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Metadata;
import io.grpc.Status.Code;
import io.grpc.stub.MetadataUtils;
import io.lockkeeper.server.coordinator.api.Coordinator.OpenedLease;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.Failure.Reason;
import io.lockkeeper.server.core.api.LeaseEnd;
import io.lockkeeper.server.core.api.LeaseView;
import io.lockkeeper.server.rpc.wire.Messages;
import io.lockkeeper.server.rpc.wire.PeerHeaders;
import io.lockkeeper.server.rpc.wire.ProtoDurations;
import io.lockkeeper.server.testing.ViewSamples;
import io.lockkeeper.v1.CloseLeaseRequest;
import io.lockkeeper.v1.CloseLeaseResponse;
import io.lockkeeper.v1.GetLeaseRequest;
import io.lockkeeper.v1.GetLeaseResponse;
import io.lockkeeper.v1.ListLeasesRequest;
import io.lockkeeper.v1.ListLeasesResponse;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.OpenLeaseResponse;
import io.lockkeeper.v1.RenewLeaseRequest;
import io.lockkeeper.v1.RenewLeaseResponse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LeaseCallsTest {

  private static final String LEASE = ViewSamples.LEASE.toString();

  @AutoClose private final InProcess server = new InProcess();

  @Test
  void leaseIsOpenedForFifteenSecondsUnlessToldOtherwise() {
    // Given
    Received<OpenLeaseRequest, OpenLeaseResponse> client = Received.all();
    // When
    server.leases().openLease(OpenLeaseRequest.getDefaultInstance(), client);
    var asked = server.coordinator.openLeases.next();
    asked.answer().complete(new OpenedLease(ViewSamples.opened(), "s3cret"));
    // Then
    assertThat(asked.what().ttl()).isEqualTo(Duration.ofSeconds(15));
    assertThat(asked.what().holder()).isNotEmpty();
    OpenLeaseResponse opened = client.next();
    assertThat(opened.getLeaseId()).isEqualTo(LEASE).hasSize(32);
    assertThat(opened.getLeaseTag()).isEqualTo(ViewSamples.LEASE.tag());
    assertThat(opened.getLeaseSecret()).isEqualTo("s3cret");
    assertThat(opened.getTtl().getSeconds()).isEqualTo(15);
    assertThat(opened.getValidFor()).isEqualTo(ProtoDurations.ofNanos(ViewSamples.TTL_NANOS - 1));
  }

  @Test
  void secretThatTheClientHasChosenIsNotToldAgain() {
    // Given
    Received<OpenLeaseRequest, OpenLeaseResponse> client = Received.all();
    String secret = "0123456789abcdef0123456789abcdef";
    // When
    server.leases().openLease(OpenLeaseRequest.newBuilder().setLeaseSecret(secret).build(), client);
    var asked = server.coordinator.openLeases.next();
    asked.answer().complete(new OpenedLease(ViewSamples.opened(), secret));
    // Then
    assertThat(asked.what().secret()).contains(secret);
    OpenLeaseResponse opened = client.next();
    assertThat(opened.getLeaseSecret()).isEmpty();
    assertThat(opened.getEpoch()).isEqualTo(1);
    assertThat(opened.getCoordinatorId()).isNotEmpty();
    assertThat(opened.getKeepAliveInterval().getSeconds()).isEqualTo(3);
  }

  @Test
  void leaseIsRenewedByAUnaryCallAndOneThatHasEndedIsNotFound() {
    // Given
    Received<RenewLeaseRequest, RenewLeaseResponse> renewed = Received.all();
    Received<RenewLeaseRequest, RenewLeaseResponse> ended = Received.all();
    RenewLeaseRequest request = RenewLeaseRequest.newBuilder().setLeaseId(LEASE).build();
    // When
    server.leases().renewLease(request, renewed);
    server
        .coordinator
        .keepAlives
        .next()
        .answer()
        .complete(new Answer.LeaseRenewed(6_000_000_000L, 3));
    server.leases().renewLease(request, ended);
    server.coordinator.keepAlives.next().answer().complete(new Answer.LeaseGone(LeaseEnd.EXPIRED));
    // Then
    RenewLeaseResponse response = renewed.next();
    assertThat(response.getValidFor().getSeconds()).isEqualTo(6);
    assertThat(response.getKeepAliveInterval().getSeconds()).isEqualTo(1);
    assertThat(response.getEpoch()).isEqualTo(3);
    assertThat(ended.end().getCode()).isEqualTo(Code.NOT_FOUND);
  }

  @Test
  void renewalOfALeaseThatHasEndedSaysHowInPlainWords() {
    // Given: a call that is not forwarded again
    Metadata headers = new Metadata();
    headers.put(PeerHeaders.FORWARDED_BY, "peer");
    Received<RenewLeaseRequest, RenewLeaseResponse> ended = Received.all();
    // When
    server
        .leases()
        .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
        .renewLease(RenewLeaseRequest.newBuilder().setLeaseId(LEASE).build(), ended);
    server.coordinator.keepAlives.next().answer().complete(new Answer.LeaseGone(LeaseEnd.EXPIRED));
    // Then
    assertThat(ended.end().getDescription())
        .isEqualTo("the lease has ended: it was not renewed in time");
  }

  @Test
  void refusedLeaseHasItsStatus() {
    // Given
    Received<OpenLeaseRequest, OpenLeaseResponse> client = Received.all();
    server.leases().openLease(OpenLeaseRequest.getDefaultInstance(), client);
    // When
    server
        .coordinator
        .openLeases
        .next()
        .answer()
        .completeExceptionally(ViewSamples.refused(Reason.UNAVAILABLE));
    // Then
    assertThat(client.end().getCode()).isEqualTo(Code.UNAVAILABLE);
  }

  @Test
  void bugInTheCoordinatorIsInternalAndKeptToItself() {
    // Given
    Received<OpenLeaseRequest, OpenLeaseResponse> client = Received.all();
    server.leases().openLease(OpenLeaseRequest.getDefaultInstance(), client);
    // When
    server
        .coordinator
        .openLeases
        .next()
        .answer()
        .completeExceptionally(new IllegalStateException("s3cret"));
    // Then
    var end = client.end();
    assertThat(end.getCode()).isEqualTo(Code.INTERNAL);
    assertThat(end.getDescription()).doesNotContain("s3cret");
  }

  @Test
  void closeSaysWhetherTheLeaseHadEndedBefore() {
    // Given
    Received<CloseLeaseRequest, CloseLeaseResponse> client = Received.all();
    server.leases().closeLease(CloseLeaseRequest.newBuilder().setLeaseId(LEASE).build(), client);
    // When
    server.coordinator.closeLeases.next().answer().complete(new Answer.LeaseClosed(true));
    // Then
    assertThat(client.next().getAlreadyEnded()).isTrue();
  }

  @Test
  void leaseIsShownWithItsAcquisitions() {
    // Given
    Received<GetLeaseRequest, GetLeaseResponse> client = Received.all();
    server.leases().getLease(GetLeaseRequest.newBuilder().setLeaseId(LEASE).build(), client);
    // When
    server.coordinator.getLeases.next().answer().complete(ViewSamples.lease("tag-1"));
    // Then
    var lease = client.next().getLease();
    assertThat(lease.getLeaseTag()).isEqualTo("tag-1");
    assertThat(lease.getTtl().getSeconds()).isEqualTo(15);
    assertThat(lease.getRemaining().getSeconds()).isEqualTo(7);
    assertThat(lease.getStreamBound()).isFalse();
    assertThat(lease.getAcquisitions(0).getLocksList()).containsExactly("orders/42");
    assertThat(lease.getAcquisitions(0).getHeld()).isTrue();
  }

  @Test
  void leaseThatIsAStreamHasNoTimeToLive() {
    // When
    var lease =
        Messages.toLeaseState(
            new LeaseView("tag-1", "shop", Optional.empty(), Optional.empty(), 0, List.of()));
    // Then
    assertThat(lease.getStreamBound()).isTrue();
    assertThat(lease.hasTtl()).isFalse();
    assertThat(lease.hasRemaining()).isFalse();
  }

  @Test
  void leasesComeInPages() {
    // Given
    Received<ListLeasesRequest, ListLeasesResponse> first = Received.all();
    Received<ListLeasesRequest, ListLeasesResponse> second = Received.all();
    server.leases().listLeases(ListLeasesRequest.newBuilder().setPageSize(2).build(), first);
    var asked = server.coordinator.listLeases.next();
    asked
        .answer()
        .complete(List.of(ViewSamples.lease("a"), ViewSamples.lease("b"), ViewSamples.lease("c")));
    ListLeasesResponse page = first.next();
    // When
    server
        .leases()
        .listLeases(
            ListLeasesRequest.newBuilder()
                .setPageSize(2)
                .setPageToken(page.getNextPageToken())
                .build(),
            second);
    var next = server.coordinator.listLeases.next();
    next.answer().complete(List.of(ViewSamples.lease("c")));
    // Then
    assertThat(asked.what().afterTag()).isEmpty();
    assertThat(page.getLeasesCount()).isEqualTo(2);
    assertThat(page.getLeases(0).getAcquisitionsCount()).isZero();
    assertThat(page.getLeases(0).getAcquisitionCount()).isEqualTo(1);
    assertThat(next.what().afterTag()).isEqualTo("b");
    assertThat(second.next().getNextPageToken()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(LeaseEnd.class)
  void everyEndHasItsName(LeaseEnd end) {
    // A lease that was a stream is closed by whatever ends the stream.
    boolean stream =
        Set.of(LeaseEnd.CANCELLED, LeaseEnd.BROKEN, LeaseEnd.COORDINATOR_LEFT).contains(end);
    LeaseEnd named = stream ? LeaseEnd.CLOSED : end;
    assertThat(Messages.toReason(end).name()).isEqualTo("LEASE_END_REASON_" + named);
  }
}
