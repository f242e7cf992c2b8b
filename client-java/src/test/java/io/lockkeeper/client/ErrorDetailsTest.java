package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Any;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.lockkeeper.client.internal.protocol.ErrorDetails;
import io.lockkeeper.client.internal.protocol.Protos;
import io.lockkeeper.v1.Refused;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** What a refusal says to programs and to people. */
class ErrorDetailsTest {

  private static StatusRuntimeException failure(Status.Code code, Any... details) {
    return StatusProto.toStatusRuntimeException(
        com.google.rpc.Status.newBuilder()
            .setCode(code.value())
            .setMessage("no")
            .addAllDetails(Arrays.asList(details))
            .build());
  }

  private static Any info(String domain, String reason) {
    return Any.pack(ErrorInfo.newBuilder().setDomain(domain).setReason(reason).build());
  }

  @Test
  void everyReasonOfTheContractHasOneOfTheClientsOfTheSameName() {
    // Given
    String prefix = "ERROR_REASON_";
    // When / Then
    for (io.lockkeeper.v1.ErrorReason reason : io.lockkeeper.v1.ErrorReason.values()) {
      String expected =
          switch (reason) {
            case ERROR_REASON_UNSPECIFIED, UNRECOGNIZED -> "UNKNOWN";
            default -> reason.name().substring(prefix.length());
          };
      assertThat(Protos.toErrorReason(reason)).hasToString(expected);
    }
  }

  @Test
  void reasonFieldAndDelayOfACallComeFromItsDetails() {
    // Given
    StatusRuntimeException failure =
        failure(
            Status.Code.INVALID_ARGUMENT,
            info("lockkeeper.io", "INVALID_FIELD"),
            Any.pack(
                BadRequest.newBuilder()
                    .addFieldViolations(
                        BadRequest.FieldViolation.newBuilder().setField("locks[0].name"))
                    .build()),
            Any.pack(
                RetryInfo.newBuilder()
                    .setRetryDelay(Protos.toProto(Duration.ofSeconds(3)))
                    .build()));
    // When
    RequestRefusedException refused = ErrorDetails.of(failure).toException("lock \"a\"");
    // Then
    assertThat(refused.reason()).isEqualTo(ErrorReason.INVALID_FIELD);
    assertThat(refused.code()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    assertThat(refused.field()).isEqualTo("locks[0].name");
    assertThat(refused.retryAfter()).hasValue(Duration.ofSeconds(3));
    assertThat(refused)
        .hasMessage(
            "lock \"a\": the server refused the request"
                + " (INVALID_ARGUMENT, INVALID_FIELD, field locks[0].name): no");
  }

  @Test
  void reasonOfAnotherDomainOrOfANewerServerIsUnknown() {
    assertThat(
            ErrorDetails.of(failure(Status.Code.NOT_FOUND, info("example.org", "UNKNOWN_LEASE")))
                .reason())
        .isEqualTo(ErrorReason.UNKNOWN);
    assertThat(
            ErrorDetails.of(failure(Status.Code.NOT_FOUND, info("lockkeeper.io", "NEWER")))
                .reason())
        .isEqualTo(ErrorReason.UNKNOWN);
    assertThat(ErrorDetails.of(Status.INTERNAL.asRuntimeException()).reason())
        .isEqualTo(ErrorReason.UNKNOWN);
  }

  @Test
  void whatTheStoreRefusesIsNotTriedAgainAndOtherFaultsAre() {
    // Given
    ErrorDetails refused =
        ErrorDetails.of(failure(Status.Code.INTERNAL, info("lockkeeper.io", "STORE_REFUSED")));
    ErrorDetails fault =
        ErrorDetails.of(failure(Status.Code.INTERNAL, info("lockkeeper.io", "INTERNAL")));
    // When / Then
    assertThat(refused.isPassing()).isFalse();
    assertThat(fault.isPassing()).isTrue();
  }

  @Test
  void refusalOnAStreamNamesTheLockAndTheReason() {
    // Given
    Refused refused =
        Refused.newBuilder()
            .setAcquire("1")
            .setReason(io.lockkeeper.v1.ErrorReason.ERROR_REASON_WRONG_KIND)
            .setCode(Status.Code.FAILED_PRECONDITION.value())
            .setField("locks[0].mode")
            .setMessage("in use as a read/write lock")
            .build();
    // When
    LockkeeperException failure = Protos.toException("orders/42", refused);
    // Then
    assertThat(failure)
        .isInstanceOfSatisfying(
            RequestRefusedException.class,
            e -> {
              assertThat(e.reason()).isEqualTo(ErrorReason.WRONG_KIND);
              assertThat(e.field()).isEqualTo("locks[0].mode");
            })
        .hasMessageContaining("orders/42")
        .hasMessageContaining("in use as a read/write lock");
  }
}
