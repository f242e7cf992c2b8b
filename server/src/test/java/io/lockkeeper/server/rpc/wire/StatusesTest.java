package io.lockkeeper.server.rpc.wire;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Any;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Status.Code;
import io.grpc.protobuf.StatusProto;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.Failure.Reason;
import io.lockkeeper.server.testing.ViewSamples;
import io.lockkeeper.v1.ErrorReason;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StatusesTest {

  private static final Map<Reason, Code> CODES = new EnumMap<>(Reason.class);

  static {
    CODES.put(Reason.UNKNOWN_LEASE, Code.NOT_FOUND);
    CODES.put(Reason.FOREIGN_LEASE, Code.NOT_FOUND);
    CODES.put(Reason.UNKNOWN_ACQUISITION, Code.NOT_FOUND);
    CODES.put(Reason.SECRET_USED, Code.FAILED_PRECONDITION);
    CODES.put(Reason.WRONG_SECRET, Code.FAILED_PRECONDITION);
    CODES.put(Reason.REQUEST_ID_IN_USE, Code.FAILED_PRECONDITION);
    CODES.put(Reason.WRONG_TOKEN, Code.FAILED_PRECONDITION);
    CODES.put(Reason.WRONG_KIND, Code.FAILED_PRECONDITION);
    CODES.put(Reason.WRONG_LIMIT, Code.FAILED_PRECONDITION);
    CODES.put(Reason.NOT_WAITING, Code.FAILED_PRECONDITION);
    CODES.put(Reason.NOT_HELD, Code.FAILED_PRECONDITION);
    CODES.put(Reason.ENDED, Code.FAILED_PRECONDITION);
    CODES.put(Reason.NO_HOLDER, Code.NOT_FOUND);
    CODES.put(Reason.NOT_FROZEN, Code.NOT_FOUND);
    CODES.put(Reason.COUNTER_STUCK, Code.FAILED_PRECONDITION);
    CODES.put(Reason.QUEUE_FULL, Code.RESOURCE_EXHAUSTED);
    CODES.put(Reason.LEASE_FULL, Code.RESOURCE_EXHAUSTED);
    CODES.put(Reason.TOO_MANY, Code.RESOURCE_EXHAUSTED);
    CODES.put(Reason.UNAVAILABLE, Code.UNAVAILABLE);
    CODES.put(Reason.LEAVING, Code.UNAVAILABLE);
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

  /** Returns one refusal of every kind that a server can give: of every method that makes one. */
  private static List<Refusal> all() {
    Stream<Refusal> failures =
        Arrays.stream(Reason.values()).map(reason -> Statuses.of(new Failure(reason, "words")));
    Stream<Refusal> causes =
        Stream.of(
                new InvalidRequestException("ttl", "must be short"),
                new DeniedException("lacks a right"),
                new OverLimitException("has its limit", Duration.ofSeconds(3)),
                new IllegalStateException("a bug"),
                io.grpc.Status.DEADLINE_EXCEEDED.asRuntimeException())
            .map(Statuses::of);
    Stream<Refusal> made =
        Arrays.stream(Statuses.class.getDeclaredMethods())
            .filter(method -> Modifier.isPublic(method.getModifiers()))
            .filter(method -> method.getReturnType() == Refusal.class)
            .filter(method -> !method.getName().equals("of"))
            .map(StatusesTest::make);
    return Stream.of(failures, causes, made).flatMap(refusals -> refusals).toList();
  }

  private static Refusal make(Method factory) {
    Object[] arguments =
        Arrays.stream(factory.getParameterTypes()).map(StatusesTest::argument).toArray();
    try {
      return (Refusal) factory.invoke(null, arguments);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(factory.toString(), e);
    }
  }

  private static Object argument(Class<?> type) {
    if (type == String.class) {
      return "words";
    }
    if (type == Duration.class) {
      return Duration.ofSeconds(1);
    }
    if (type == Failure.class) {
      return new Failure(Reason.MOVED, "words");
    }
    throw new AssertionError("say here what to give a factory that takes a " + type);
  }

  @Test
  void refusalOfAPeerIsPassedOnWithItsCodeReasonFieldAndDelay() {
    for (Refusal refusal : all()) {
      // When
      Refusal passedOn = Statuses.of(refusal.toException());
      // Then
      assertThat(passedOn.code()).isEqualTo(refusal.code());
      assertThat(passedOn.reason()).isEqualTo(refusal.reason());
      assertThat(passedOn.retryAfter()).isEqualTo(refusal.retryAfter());
      assertThat(passedOn.toException().getStatus().getDescription())
          .isEqualTo(refusal.toException().getStatus().getDescription());
    }
    Refusal invalid = Statuses.of(new InvalidRequestException("ttl", "must be short"));
    assertThat(Statuses.of(invalid.toException()).field()).isEqualTo("ttl");
  }

  @ParameterizedTest
  @EnumSource(
      value = Code.class,
      names = {"OK"},
      mode = EnumSource.Mode.EXCLUDE)
  void peerThatAnswersInTheWordsOfGrpcAloneIsUnreachable(Code code) {
    // When
    Refusal refusal = Statuses.of(code.toStatus().asRuntimeException());
    // Then
    assertThat(refusal.code()).isEqualTo(Code.UNAVAILABLE);
    assertThat(refusal.reason()).isEqualTo(ErrorReason.ERROR_REASON_COORDINATOR_UNREACHABLE);
    assertThat(refusal.retryAfter()).isPresent();
    assertThat(refusal.message()).contains(code.name()).doesNotContain("null");
  }

  @Test
  void detailsOfOthersAreNoneOfOurs() {
    // Given: what a proxy may say
    com.google.rpc.Status status =
        com.google.rpc.Status.newBuilder()
            .setCode(Code.NOT_FOUND.value())
            .addDetails(
                Any.pack(
                    ErrorInfo.newBuilder()
                        .setDomain("example.com")
                        .setReason("UNKNOWN_LEASE")
                        .build()))
            .build();
    // When
    Refusal refusal = Statuses.of(StatusProto.toStatusRuntimeException(status));
    // Then
    assertThat(refusal.reason()).isEqualTo(ErrorReason.ERROR_REASON_COORDINATOR_UNREACHABLE);
  }

  @Test
  void everyRefusalCarriesItsReason() throws Exception {
    for (Refusal refusal : all()) {
      // When
      ErrorInfo info =
          detailsOf(refusal).stream()
              .filter(detail -> detail.is(ErrorInfo.class))
              .findFirst()
              .orElseThrow()
              .unpack(ErrorInfo.class);
      // Then
      assertThat(info.getDomain()).isEqualTo("lockkeeper.io");
      assertThat("ERROR_REASON_" + info.getReason()).isEqualTo(refusal.reason().name());
      assertThat(refusal.toRefused().getReason()).isEqualTo(refusal.reason());
    }
  }

  @Test
  void everyReasonIsGivenWithTheStatusCodeThatTheContractSays() throws Exception {
    // Given
    Map<String, String> documented = documentedCodes();
    // When
    Map<String, String> given = new TreeMap<>();
    all().forEach(refusal -> given.put(refusal.reason().name(), refusal.code().name()));
    // Then
    assertThat(given).isEqualTo(documented);
  }

  /** Returns the status code with which the comment of each reason begins. */
  private static Map<String, String> documentedCodes() throws IOException {
    String contract =
        Files.readString(Path.of("../proto/src/main/proto/lockkeeper/v1/types.proto"));
    Matcher reason =
        Pattern.compile("// ([A-Z_]+): [^=]*?\n  (ERROR_REASON_[A-Z_]+) = ").matcher(contract);
    Map<String, String> codes = new TreeMap<>();
    while (reason.find()) {
      codes.put(reason.group(2), reason.group(1));
    }
    return codes;
  }

  private static List<Any> detailsOf(Refusal refusal) {
    return StatusProto.fromThrowable(refusal.toException()).getDetailsList();
  }
}
