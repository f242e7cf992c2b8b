package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.lockkeeper.v1.AdminServiceCloseLeaseRequest;
import io.lockkeeper.v1.AdminServiceGrpc.AdminServiceBlockingStub;
import io.lockkeeper.v1.DrainRequest;
import io.lockkeeper.v1.FreezeRequest;
import io.lockkeeper.v1.UnfreezeRequest;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class NotOfferedTest {

  @AutoClose private static final InProcess server = new InProcess();

  @ParameterizedTest(name = "{0}")
  @MethodSource("notOffered")
  void whatIsNotOfferedSaysSo(String reason, Consumer<AdminServiceBlockingStub> call) {
    // When
    StatusRuntimeException refused =
        catchThrowableOfType(StatusRuntimeException.class, () -> call.accept(server.admin()));
    // Then
    assertThat(refused.getStatus().getCode()).isEqualTo(Code.UNIMPLEMENTED);
    assertThat(refused.getStatus().getDescription()).contains(reason).contains("not offered");
  }

  static Stream<Arguments> notOffered() {
    return Stream.of(
        row(
            "others' leases",
            s -> s.closeLease(AdminServiceCloseLeaseRequest.getDefaultInstance())),
        row("Freeze", s -> s.freeze(FreezeRequest.getDefaultInstance())),
        row("Unfreeze", s -> s.unfreeze(UnfreezeRequest.getDefaultInstance())),
        row("Drain", s -> s.drain(DrainRequest.getDefaultInstance())));
  }

  private static Arguments row(String reason, Consumer<AdminServiceBlockingStub> call) {
    return arguments(reason, call);
  }
}
