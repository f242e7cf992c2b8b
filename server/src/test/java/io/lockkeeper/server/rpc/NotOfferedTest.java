package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.google.protobuf.Duration;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AdminServiceCloseLeaseRequest;
import io.lockkeeper.v1.DrainRequest;
import io.lockkeeper.v1.ForceReleaseRequest;
import io.lockkeeper.v1.FreezeRequest;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.RequestReleaseRequest;
import io.lockkeeper.v1.UnfreezeRequest;
import io.lockkeeper.v1.UpdateMetadataRequest;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class NotOfferedTest {

  private static InProcess server;

  @BeforeAll
  static void start() {
    server = new InProcess();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("notOffered")
  void whatIsNotOfferedSaysSo(String reason, Consumer<InProcess> call) {
    // When
    StatusRuntimeException refused =
        catchThrowableOfType(StatusRuntimeException.class, () -> call.accept(server));
    // Then
    assertThat(refused.getStatus().getCode()).isEqualTo(Code.UNIMPLEMENTED);
    assertThat(refused.getStatus().getDescription()).contains(reason).contains("not offered");
  }

  static Stream<Arguments> notOffered() {
    return Stream.of(
        row("ForceRelease", s -> s.admin().forceRelease(ForceReleaseRequest.getDefaultInstance())),
        row(
            "others' leases",
            s -> s.admin().closeLease(AdminServiceCloseLeaseRequest.getDefaultInstance())),
        row("Freeze", s -> s.admin().freeze(FreezeRequest.getDefaultInstance())),
        row("Unfreeze", s -> s.admin().unfreeze(UnfreezeRequest.getDefaultInstance())),
        row("Drain", s -> s.admin().drain(DrainRequest.getDefaultInstance())),
        row(
            "RequestRelease",
            s -> s.locksNow().requestRelease(RequestReleaseRequest.getDefaultInstance())),
        row(
            "UpdateMetadata",
            s -> s.locksNow().updateMetadata(UpdateMetadataRequest.getDefaultInstance())),
        acquiring("locks[0].mode: LOCK_MODE_READ", mode(LockMode.LOCK_MODE_READ)),
        acquiring("locks[0].mode: LOCK_MODE_WRITE", mode(LockMode.LOCK_MODE_WRITE)),
        acquiring(
            "locks[0].mode: LOCK_MODE_PERMITS",
            AcquireRequest.newBuilder()
                .addLocks(lock("a").setMode(LockMode.LOCK_MODE_PERMITS).setPermits(1).setLimit(2))),
        acquiring(
            "locks: several locks",
            AcquireRequest.newBuilder().addLocks(lock("a")).addLocks(lock("b"))),
        acquiring("owner: ", AcquireRequest.newBuilder().addLocks(lock("a")).setOwner("thread-1")),
        acquiring(
            "max_hold: ", AcquireRequest.newBuilder().addLocks(lock("a")).setMaxHold(seconds(1))),
        acquiring(
            "lock_delay: ",
            AcquireRequest.newBuilder().addLocks(lock("a")).setLockDelay(seconds(1))));
  }

  @Test
  void lockDelayOfZeroAsksForNothing() {
    // Given
    AcquireRequest request =
        AcquireRequest.newBuilder().addLocks(lock("a")).setLockDelay(seconds(0)).build();
    // When
    server.locks().acquire(request, Received.all());
    // Then
    assertThat(server.coordinator.acquires.next().command().locks()).hasSize(1);
  }

  private static Arguments row(String reason, Consumer<InProcess> call) {
    return arguments(reason, call);
  }

  private static Arguments acquiring(String reason, AcquireRequest.Builder request) {
    return row(reason, s -> s.locksNow().acquire(request.build()).next());
  }

  private static AcquireRequest.Builder mode(LockMode mode) {
    return AcquireRequest.newBuilder().addLocks(lock("a").setMode(mode));
  }

  private static LockRequest.Builder lock(String name) {
    return LockRequest.newBuilder().setName(name);
  }

  private static Duration seconds(long seconds) {
    return Duration.newBuilder().setSeconds(seconds).build();
  }
}
