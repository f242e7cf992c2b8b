package io.lockkeeper.server.rpc;

import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.lockkeeper.server.rpc.wire.ProtoDurations;
import io.lockkeeper.server.testing.ViewSamples;
import io.lockkeeper.v1.AnswerReleaseRequest;
import io.lockkeeper.v1.ConfigureLockRequest;
import io.lockkeeper.v1.ForceReleaseRequest;
import io.lockkeeper.v1.RequestReleaseRequest;
import io.lockkeeper.v1.UpdateMetadataRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Malformed requests about locks that are held, by their holders and by others. */
class HoldersValidationTest {

  private static final String LEASE = ViewSamples.LEASE.toString();
  private static final long WEEK_NANOS = 7 * 86_400_000_000_000L;
  private static final long HOUR_NANOS = 3_600_000_000_000L;
  @AutoClose private static final InProcess server = new InProcess();

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("malformed")
  void malformedFieldIsNamedWithItsLimit(String field, String description, Consumer<InProcess> call)
      throws Exception {
    // When // Then
    Malformed.assertRefused(server, call, field, description);
  }

  static Stream<Arguments> malformed() {
    List<Arguments> rows = new ArrayList<>();
    wishes(rows);
    forces(rows);
    answers(rows);
    descriptions(rows);
    limits(rows);
    return rows.stream();
  }

  private static void wishes(List<Arguments> rows) {
    rows.add(wish("name", "must not be empty", RequestReleaseRequest.newBuilder()));
    rows.add(wish("reason", "at most 1024 bytes", wish().setReason("é".repeat(513))));
    rows.add(wish("requester", "at most 256 bytes", wish().setRequester("r".repeat(257))));
    rows.add(
        wish(
            "deadline",
            "0 s to 604800 s, is 604800 s + 1 ns",
            wish().setDeadline(ProtoDurations.ofNanos(WEEK_NANOS + 1))));
    rows.add(wish("deadline", "is -1 s", wish().setDeadline(minusOne())));
  }

  private static void forces(List<Arguments> rows) {
    rows.add(force("name", "must not be empty", ForceReleaseRequest.newBuilder()));
    rows.add(force("fencing_token", "or zero; is -1", force().setFencingToken(-1)));
    rows.add(force("reason", "at most 1024 bytes", force().setReason("r".repeat(1_025))));
    rows.add(
        force("grace", "0 s to 3600 s", force().setGrace(ProtoDurations.ofNanos(HOUR_NANOS + 1))));
  }

  private static void answers(List<Arguments> rows) {
    rows.add(answer("lease_id", "it is empty", AnswerReleaseRequest.newBuilder()));
    rows.add(answer("request_id", "must not be empty", answer().clearRequestId()));
    rows.add(answer("needs", "must be set", answer()));
    rows.add(
        answer(
            "needs", "0 s to 604800 s", answer().setNeeds(ProtoDurations.ofNanos(WEEK_NANOS + 1))));
    rows.add(answer("needs", "is -1 s", answer().setNeeds(minusOne())));
  }

  private static void descriptions(List<Arguments> rows) {
    rows.add(describe("lease_id", "it is empty", UpdateMetadataRequest.newBuilder()));
    rows.add(describe("request_id", "must not be empty", describe().clearRequestId()));
    rows.add(describe("metadata", "empty key", describe().putMetadata("", "v")));
    rows.add(
        describe("metadata", "at most 4096 bytes", describe().putMetadata("k", "v".repeat(4_096))));
  }

  private static void limits(List<Arguments> rows) {
    rows.add(limit("name", "'.' or '..'", ConfigureLockRequest.newBuilder().setName("..")));
    rows.add(limit("limit", "0 to 1000000, is -1", limit().setLimit(-1)));
    rows.add(limit("limit", "0 to 1000000, is 1000001", limit().setLimit(1_000_001)));
  }

  private static RequestReleaseRequest.Builder wish() {
    return RequestReleaseRequest.newBuilder().setName("a");
  }

  private static Arguments wish(String field, String words, RequestReleaseRequest.Builder request) {
    return row(field, words, s -> s.locksNow().requestRelease(request.build()));
  }

  private static ForceReleaseRequest.Builder force() {
    return ForceReleaseRequest.newBuilder().setName("a");
  }

  private static Arguments force(String field, String words, ForceReleaseRequest.Builder request) {
    return row(field, words, s -> s.admin().forceRelease(request.build()));
  }

  private static AnswerReleaseRequest.Builder answer() {
    return AnswerReleaseRequest.newBuilder().setLeaseId(LEASE).setRequestId("req-1");
  }

  private static Arguments answer(
      String field, String words, AnswerReleaseRequest.Builder request) {
    return row(field, words, s -> s.locksNow().answerRelease(request.build()));
  }

  private static UpdateMetadataRequest.Builder describe() {
    return UpdateMetadataRequest.newBuilder().setLeaseId(LEASE).setRequestId("req-1");
  }

  private static Arguments describe(
      String field, String words, UpdateMetadataRequest.Builder request) {
    return row(field, words, s -> s.locksNow().updateMetadata(request.build()));
  }

  private static ConfigureLockRequest.Builder limit() {
    return ConfigureLockRequest.newBuilder().setName("a");
  }

  private static Arguments limit(String field, String words, ConfigureLockRequest.Builder request) {
    return row(field, words, s -> s.locksNow().configureLock(request.build()));
  }

  private static Arguments row(String field, String words, Consumer<InProcess> call) {
    return arguments(field, words, call);
  }

  private static com.google.protobuf.Duration minusOne() {
    return com.google.protobuf.Duration.newBuilder().setSeconds(-1).build();
  }
}
