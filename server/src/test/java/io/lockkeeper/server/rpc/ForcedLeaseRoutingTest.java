package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.server.coordinator.api.LeaseLocation;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.Failure.Reason;
import io.lockkeeper.server.testing.ViewSamples;
import io.lockkeeper.v1.AdminServiceCloseLeaseRequest;
import io.lockkeeper.v1.AdminServiceCloseLeaseResponse;
import io.lockkeeper.v1.AdminServiceGrpc;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An operator closes a lease at a coordinator that does not serve it. */
class ForcedLeaseRoutingTest {

  private static final Duration SOON = Duration.ofSeconds(20);

  @AutoClose private final Node here = Node.start("here");
  @AutoClose private final Node there = Node.start("there");

  private CompletableFuture<AdminServiceCloseLeaseResponse> close(String lease) {
    here.coordinator.meets(there.peer());
    await().until(() -> here.services.peers().serves("there"));
    AdminServiceCloseLeaseRequest request =
        AdminServiceCloseLeaseRequest.newBuilder().setLease(lease).setReason("stuck").build();
    CompletableFuture<AdminServiceCloseLeaseResponse> response =
        CompletableFuture.supplyAsync(
            () -> AdminServiceGrpc.newBlockingStub(here.channel).closeLease(request));
    refuse(here);
    return response;
  }

  private static void refuse(Node node) {
    node.coordinator
        .forcedLeases
        .next()
        .answer()
        .completeExceptionally(ViewSamples.refused(Reason.UNKNOWN_LEASE));
  }

  @Test
  void leaseIsFoundByItsIdWhereItIsRecorded() {
    // Given
    here.knows(there);
    // When
    CompletableFuture<AdminServiceCloseLeaseResponse> response =
        close(ViewSamples.LEASE.toString());
    var asked = there.coordinator.forcedLeases.next();
    asked.answer().complete(new Answer.LeaseClosed(false));
    // Then
    assertThat(response).succeedsWithin(SOON);
    assertThat(asked.what().reason()).isEqualTo("stuck");
    assertThat(asked.what().lease().tag()).isEqualTo(ViewSamples.LEASE.tag());
  }

  /** By its tag nobody can look it up, and a lease that is a call has no record. */
  @ParameterizedTest
  @ValueSource(strings = {"tag", "id of a call"})
  void leaseThatHasNoRecordIsAskedForAtThePeers(String named) {
    // Given
    here.coordinator.servedBy(new LeaseLocation.Unknown());
    // When
    CompletableFuture<AdminServiceCloseLeaseResponse> response =
        close(named.equals("tag") ? ViewSamples.LEASE.tag() : ViewSamples.LEASE.toString());
    there.coordinator.forcedLeases.next().answer().complete(new Answer.LeaseClosed(false));
    // Then
    assertThat(response).succeedsWithin(SOON);
    assertThat(here.coordinator.located()).isEqualTo(named.equals("tag") ? 0 : 1);
  }

  @Test
  void leaseThatNobodyServesIsNotFound() {
    // When
    CompletableFuture<AdminServiceCloseLeaseResponse> response = close(ViewSamples.LEASE.tag());
    refuse(there);
    // Then
    assertThat(response)
        .failsWithin(SOON)
        .withThrowableThat()
        .withMessageContaining("NOT_FOUND")
        .withMessageContaining(ViewSamples.LEASE.tag());
  }
}
