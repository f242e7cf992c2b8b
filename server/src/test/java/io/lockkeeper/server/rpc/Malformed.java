package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.util.function.Consumer;

/** What a client hears of a request with a malformed field. */
final class Malformed {

  private Malformed() {}

  /** Checks that a call is refused, naming the field and what it must be. */
  static void assertRefused(
      InProcess server, Consumer<InProcess> call, String field, String description)
      throws InvalidProtocolBufferException {
    StatusRuntimeException refused =
        catchThrowableOfType(StatusRuntimeException.class, () -> call.accept(server));
    assertThat(refused.getStatus().getCode()).isEqualTo(Code.INVALID_ARGUMENT);
    BadRequest details =
        StatusProto.fromThrowable(refused).getDetailsList().get(0).unpack(BadRequest.class);
    ErrorInfo info =
        StatusProto.fromThrowable(refused).getDetailsList().get(1).unpack(ErrorInfo.class);
    assertThat(info.getDomain()).isEqualTo("lockkeeper.io");
    assertThat(info.getReason()).isEqualTo("INVALID_FIELD");
    assertThat(details.getFieldViolations(0).getField()).isEqualTo(field);
    assertThat(details.getFieldViolations(0).getDescription()).contains(description);
    assertThat(refused.getStatus().getDescription()).startsWith(field + ": ");
  }
}
