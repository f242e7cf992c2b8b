package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.reflection.v1.ServiceResponse;
import io.lockkeeper.server.testing.ViewSamples;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LockServiceGrpc;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ToolsTest {

  @AutoClose private final InProcess server = new InProcess();

  private ServingStatus healthOf(String service) {
    return HealthGrpc.newBlockingStub(server.channel)
        .check(HealthCheckRequest.newBuilder().setService(service).build())
        .getStatus();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", LockServiceGrpc.SERVICE_NAME, LeaseServiceGrpc.SERVICE_NAME})
  void healthFollowsTheCoordinatorBothWays(String service) {
    // Given
    assertThat(healthOf(service)).isEqualTo(ServingStatus.SERVING);
    // When
    server.coordinator.is(ViewSamples.cutOff());
    await().until(() -> healthOf(service) == ServingStatus.NOT_SERVING);
    server.coordinator.is(ViewSamples.serving());
    // Then
    await().until(() -> healthOf(service) == ServingStatus.SERVING);
  }

  @Test
  void watcherOfHealthIsToldWhenItTurns() {
    // Given
    Received<HealthCheckRequest, HealthCheckResponse> client = Received.all();
    HealthGrpc.newStub(server.channel).watch(HealthCheckRequest.getDefaultInstance(), client);
    assertThat(client.next().getStatus()).isEqualTo(ServingStatus.SERVING);
    // When
    server.coordinator.is(ViewSamples.cutOff());
    // Then
    assertThat(client.next().getStatus()).isEqualTo(ServingStatus.NOT_SERVING);
  }

  @Test
  void healthOfAnEndpointThatStopsIsNotServingForGood() {
    // When
    server.services.goAway("stopping");
    // Then
    assertThat(healthOf("")).isEqualTo(ServingStatus.NOT_SERVING);
  }

  @Test
  void adminServiceServesAlsoWithoutContactToZooKeeper() {
    // When
    server.coordinator.is(ViewSamples.cutOff());
    await().until(() -> healthOf("") == ServingStatus.NOT_SERVING);
    // Then
    assertThat(healthOf(AdminServiceGrpc.SERVICE_NAME)).isEqualTo(ServingStatus.SERVING);
  }

  @Test
  void reflectionListsTheServices() {
    // Given
    Received<ServerReflectionRequest, ServerReflectionResponse> client = Received.all();
    var requests = ServerReflectionGrpc.newStub(server.channel).serverReflectionInfo(client);
    // When
    requests.onNext(ServerReflectionRequest.newBuilder().setListServices("").build());
    // Then
    assertThat(client.next().getListServicesResponse().getServiceList())
        .extracting(ServiceResponse::getName)
        .contains(
            LockServiceGrpc.SERVICE_NAME,
            LeaseServiceGrpc.SERVICE_NAME,
            AdminServiceGrpc.SERVICE_NAME,
            HealthGrpc.SERVICE_NAME,
            "grpc.reflection.v1alpha.ServerReflection");
    requests.onCompleted();
  }

  @ParameterizedTest
  @CsvSource({
    "google.rpc.ErrorInfo, true",
    "google.rpc.RetryInfo, true",
    "google.rpc.Nonsense, false"
  })
  void reflectionKnowsTheDetailsOfErrorsToo(String symbol, boolean known) {
    // Given
    Received<ServerReflectionRequest, ServerReflectionResponse> client = Received.all();
    var requests = ServerReflectionGrpc.newStub(server.channel).serverReflectionInfo(client);
    // When
    requests.onNext(ServerReflectionRequest.newBuilder().setFileContainingSymbol(symbol).build());
    // Then
    ServerReflectionResponse response = client.next();
    assertThat(response.hasFileDescriptorResponse()).isEqualTo(known);
    assertThat(response.hasErrorResponse()).isEqualTo(!known);
    requests.onCompleted();
  }
}
