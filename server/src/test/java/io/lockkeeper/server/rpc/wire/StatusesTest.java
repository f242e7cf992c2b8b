package io.lockkeeper.server.rpc.wire;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Any;
import com.google.rpc.BadRequest;
import com.google.rpc.RetryInfo;
import io.grpc.Status.Code;
import io.grpc.protobuf.StatusProto;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.Failure.Reason;
import io.lockkeeper.server.testing.ViewSamples;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StatusesTest {

  private static final Map<Reason, Code> CODES = new EnumMap<>(Reason.class);

  static {
    CODES.put(Reason.UNKNOWN_LEASE, Code.NOT_FOUND);
    CODES.put(Reason.UNKNOWN_ACQUISITION, Code.NOT_FOUND);
    CODES.put(Reason.WRONG_SECRET, Code.FAILED_PRECONDITION);
    CODES.put(Reason.REQUEST_ID_IN_USE, Code.FAILED_PRECONDITION);
    CODES.put(Reason.WRONG_TOKEN, Code.FAILED_PRECONDITION);
    CODES.put(Reason.WRONG_KIND, Code.FAILED_PRECONDITION);
    CODES.put(Reason.WRONG_LIMIT, Code.FAILED_PRECONDITION);
    CODES.put(Reason.NOT_WAITING, Code.FAILED_PRECONDITION);
    CODES.put(Reason.NOT_HELD, Code.FAILED_PRECONDITION);
    CODES.put(Reason.ENDED, Code.FAILED_PRECONDITION);
    CODES.put(Reason.NO_HOLDER, Code.NOT_FOUND);
    CODES.put(Reason.COUNTER_STUCK, Code.FAILED_PRECONDITION);
    CODES.put(Reason.QUEUE_FULL, Code.RESOURCE_EXHAUSTED);
    CODES.put(Reason.LEASE_FULL, Code.RESOURCE_EXHAUSTED);
    CODES.put(Reason.TOO_MANY, Code.RESOURCE_EXHAUSTED);
    CODES.put(Reason.UNAVAILABLE, Code.UNAVAILABLE);
    CODES.put(Reason.MOVED, Code.UNAVAILABLE);
    CODES.put(Reason.STORE_REFUSED, Code.INTERNAL);
  }

  @ParameterizedTest
  @EnumSource(Reason.class)
  void everyKindOfFailureHasItsStatusCode(Reason reason) {
    // When
    Refusal refusal = Statuses.of(new Failure(reason, "words"));
    // Then
    assertThat(CODES).containsKey(reason);
    assertThat(refusal.code()).isEqualTo(CODES.get(reason));
    assertThat(refusal.message()).isEqualTo("words");
  }

  @ParameterizedTest
  @EnumSource(Reason.class)
  void exactlyWhatAPauseMayMendCarriesRetryInfo(Reason reason) {
    // When
    List<Any> details = detailsOf(Statuses.of(ViewSamples.refused(reason)));
    // Then
    boolean mendable =
        CODES.get(reason) == Code.UNAVAILABLE || CODES.get(reason) == Code.RESOURCE_EXHAUSTED;
    assertThat(details.stream().anyMatch(detail -> detail.is(RetryInfo.class))).isEqualTo(mendable);
  }

  @Test
  void invalidRequestNamesTheFieldInBadRequest() throws Exception {
    // When
    List<Any> details =
        detailsOf(Statuses.of(new InvalidRequestException("locks[0].name", "must be short")));
    // Then
    BadRequest.FieldViolation violation =
        details.get(0).unpack(BadRequest.class).getFieldViolations(0);
    assertThat(violation.getField()).isEqualTo("locks[0].name");
    assertThat(violation.getDescription()).isEqualTo("must be short");
  }

  @Test
  void reasonInsideACompletionExceptionCounts() {
    // When
    Refusal refusal = Statuses.of(new CompletionException(ViewSamples.refused(Reason.WRONG_TOKEN)));
    // Then
    assertThat(refusal.code()).isEqualTo(Code.FAILED_PRECONDITION);
  }

  @Test
  void whatIsUnexpectedIsToldAsItsIncidentOnly() {
    // When
    Refusal refusal = Statuses.of(new IllegalStateException("password=hunter2"));
    // Then
    assertThat(refusal.code()).isEqualTo(Code.INTERNAL);
    assertThat(refusal.message()).startsWith("internal error ").doesNotContain("hunter2");
  }

  @Test
  void fieldInsideAnotherIsNamedWithItsParent() {
    // Given
    Refusal inner = Statuses.of(new InvalidRequestException("ttl", "must be short"));
    Refusal whole = Statuses.of(new InvalidRequestException("", "must come first"));
    Refusal unrelated = Statuses.of(ViewSamples.refused(Reason.UNAVAILABLE));
    // Then
    assertThat(inner.inField("open").field()).isEqualTo("open.ttl");
    assertThat(whole.inField("open").field()).isEqualTo("open");
    assertThat(unrelated.inField("open").field()).isEmpty();
  }

  private static List<Any> detailsOf(Refusal refusal) {
    return StatusProto.fromThrowable(refusal.toException()).getDetailsList();
  }
}
