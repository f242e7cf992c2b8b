package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Grpcurl;
import io.lockkeeper.integration.harness.Polyglot;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract as somebody with a shell sees it. */
final class GrpcurlIT {

  private final Rig rig = Rig.shared();
  private final ServerProcess server = rig.server();

  @BeforeEach
  void assumeGrpcurl() {
    Polyglot.GRPCURL.assumeInstalled();
  }

  @Test
  void reflectionListsEveryService() {
    // When
    String services = Grpcurl.ask(server, "list").awaitAll();

    // Then
    assertThat(services.lines())
        .contains(
            "lockkeeper.v1.LockService",
            "lockkeeper.v1.LeaseService",
            "lockkeeper.v1.AdminService",
            "lockkeeper.v1.ShardService",
            "grpc.health.v1.Health",
            "grpc.channelz.v1.Channelz");
  }

  @Test
  void reflectionDescribesARequest() {
    // When
    String message = Grpcurl.ask(server, "describe", "lockkeeper.v1.AcquireRequest").awaitAll();

    // Then
    assertThat(message).contains("repeated .lockkeeper.v1.LockRequest locks = 1");
  }

  @Test
  void aCallHoldsTheLockUntilItIsKilledAndTheNextIsGranted() {
    // Given
    Grpcurl holder = Grpcurl.acquire(server, "orders/42");
    long first = holder.awaitToken();
    Asking waiter = Asking.forLock(rig.connect(), "orders/42");
    waiter.await(EventCase.QUEUED);
    assertThat(waiter.find(EventCase.GRANTED)).isEmpty();

    // When
    holder.close();

    // Then
    assertThat(waiter.awaitToken()).isGreaterThan(first);
    waiter.hangUp();
  }

  @Test
  void getLockShowsWhoHolds() {
    // Given
    Grpcurl holder =
        Grpcurl.call(
            server,
            "lockkeeper.v1.LockService/Acquire",
            "{\"locks\":[{\"name\":\"orders/43\"}],\"holder\":\"somebody with a shell\"}");
    long token = holder.awaitToken();

    // When
    String lock =
        Grpcurl.call(server, "lockkeeper.v1.LockService/GetLock", "{\"name\":\"orders/43\"}")
            .awaitAll();

    // Then
    assertThat(lock).contains("\"somebody with a shell\"").contains("\"" + token + "\"");
    holder.close();
  }

  @Test
  void badInputIsExplainedByFieldName() {
    // When
    String answer = Grpcurl.acquire(server, "orders/../42").awaitAll();

    // Then
    assertThat(answer).contains("InvalidArgument").contains("locks[0].name");
    assertThat(answer).contains("google.rpc.ErrorInfo", "INVALID_FIELD", "lockkeeper.io");
  }
}
