package io.lockkeeper.server.rpc;

import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.google.protobuf.Duration;
import io.lockkeeper.server.testing.ViewSamples;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.CheckTokenRequest;
import io.lockkeeper.v1.CloseLeaseRequest;
import io.lockkeeper.v1.GetLeaseRequest;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.ListLeasesRequest;
import io.lockkeeper.v1.ListLocksRequest;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.WatchRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ValidationTest {

  private static final String LEASE = ViewSamples.LEASE.toString();
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
    names(rows);
    locks(rows);
    texts(rows);
    metadata(rows);
    durations(rows);
    others(rows);
    return rows.stream();
  }

  private static void names(List<Arguments> rows) {
    rows.add(acquiring("locks[0].name", "must not be empty", locked("")));
    rows.add(acquiring("locks[0].name", "at most 512 bytes", locked("é".repeat(257))));
    rows.add(acquiring("locks[0].name", "control characters", locked("a\nb")));
    rows.add(acquiring("locks[0].name", "\"a\\u{a}b\"", locked("a\nb")));
    rows.add(acquiring("locks[0].name", "control characters", locked("a\u0000")));
    rows.add(acquiring("locks[0].name", "'.' or '..'", locked("a/../b")));
    rows.add(acquiring("locks[0].name", "'.' or '..'", locked(".")));
    rows.add(acquiring("locks[0].name", "empty segments", locked("/a")));
    rows.add(acquiring("locks[0].name", "empty segments", locked("a//b")));
    rows.add(
        acquiring("locks[0].name", "at most 16 segments, has 17", locked("a/".repeat(16) + "a")));
    rows.add(
        acquiring(
            "locks[0].name", "… (1000 bytes)".replace("… ", "…\" "), locked("x".repeat(1_000))));
    rows.add(
        arguments(
            "name",
            "must not be empty",
            call(s -> s.locksNow().getLock(GetLockRequest.getDefaultInstance()))));
    rows.add(
        arguments(
            "name",
            "'.' or '..'",
            call(
                s ->
                    s.locksNow()
                        .checkToken(
                            CheckTokenRequest.newBuilder()
                                .setName("..")
                                .setFencingToken(1)
                                .build()))));
    rows.add(
        watching(
            "names[1]", "empty segments", WatchRequest.newBuilder().addNames("a").addNames("a/")));
  }

  private static void locks(List<Arguments> rows) {
    rows.add(acquiring("locks", "1 to 64 locks, are 0", AcquireRequest.newBuilder()));
    AcquireRequest.Builder many = AcquireRequest.newBuilder();
    IntStream.range(0, 65).forEach(i -> many.addLocksBuilder().setName("lock-" + i));
    rows.add(acquiring("locks", "1 to 64 locks, are 65", many));
    rows.add(acquiring("locks[1].name", "twice", locked("a").addLocks(lock("a"))));
    rows.add(
        acquiring(
            "locks[0].mode",
            "not a LockMode: 9",
            AcquireRequest.newBuilder().addLocks(lock("a").setModeValue(9))));
    rows.add(mode("permits", "unless the mode is LOCK_MODE_PERMITS", lock("a").setPermits(1)));
    rows.add(mode("limit", "unless the mode is LOCK_MODE_PERMITS", lock("a").setLimit(1)));
    rows.add(
        mode(
            "permits",
            "unless the mode",
            lock("a").setMode(LockMode.LOCK_MODE_CUSTOM).setCustom("room-blue").setPermits(1)));
    rows.add(mode("limit", "0 to 1000000, is -1", permits(1, -1)));
    rows.add(mode("limit", "0 to 1000000, is 1000001", permits(1, 1_000_001)));
    rows.add(mode("permits", "1 to the limit (3), is 4", permits(4, 3)));
    rows.add(mode("permits", "1 to the limit (3), is 0", permits(0, 3)));
    rows.add(mode("permits", "1 to 1000000, is 0", permits(0, 0)));
    rows.add(mode("permits", "1 to 1000000, is 1000001", permits(1_000_001, 0)));
    rows.add(mode("custom", "unless the mode is LOCK_MODE_CUSTOM", lock("a").setCustom("x")));
    rows.add(mode("custom", "1 to 64 of the characters", custom("")));
    rows.add(mode("custom", "1 to 64 of the characters", custom("x".repeat(65))));
    rows.add(mode("custom", "1 to 64 of the characters", custom("../x")));
    rows.add(mode("custom", "no kind that this server knows: \"vip\"", custom("vip")));
    rows.add(mode("custom", "must not be what LOCK_MODE_EXCLUSIVE", custom("lock")));
    rows.add(mode("custom", "must not be what LOCK_MODE_READ", custom("__READ__")));
    rows.add(mode("custom", "must not be what LOCK_MODE_WRITE", custom("__WRIT__")));
    rows.add(mode("custom", "must not be what LOCK_MODE_PERMITS", custom("permit-1-2")));
  }

  private static void texts(List<Arguments> rows) {
    rows.add(
        acquiring("lease_id", "32 lower-case hexadecimal digits", locked("a").setLeaseId("nope")));
    rows.add(acquiring("lease_id", "32 lower-case", locked("a").setLeaseId("G".repeat(32))));
    rows.add(
        acquiring(
            "owner", "at most 256 bytes of UTF-8, is 257", locked("a").setOwner("o".repeat(257))));
    rows.add(
        acquiring("request_id", "at most 128 bytes", locked("a").setRequestId("r".repeat(129))));
    rows.add(acquiring("request_id", "printable", locked("a").setRequestId("a\tb")));
    rows.add(acquiring("request_id", "printable", locked("a").setRequestId("a\u2028b")));
    rows.add(acquiring("holder", "at most 256 bytes", locked("a").setHolder("h".repeat(257))));
    rows.add(
        arguments(
            "holder",
            "at most 256 bytes",
            call(
                s ->
                    s.leasesNow()
                        .openLease(
                            OpenLeaseRequest.newBuilder().setHolder("h".repeat(257)).build()))));
    rows.add(
        watching(
            "prefix", "at most 512 bytes", WatchRequest.newBuilder().setPrefix("p".repeat(513))));
    rows.add(
        arguments(
            "prefix",
            "at most 512 bytes",
            call(
                s ->
                    s.locksNow()
                        .listLocks(
                            ListLocksRequest.newBuilder().setPrefix("p".repeat(513)).build()))));
    rows.add(releasing("lease_id", "it is empty", ReleaseRequest.newBuilder().setRequestId("r")));
    rows.add(
        releasing(
            "request_id", "must not be empty", ReleaseRequest.newBuilder().setLeaseId(LEASE)));
  }

  private static void metadata(List<Arguments> rows) {
    AcquireRequest.Builder many = locked("a");
    IntStream.range(0, 33).forEach(i -> many.putMetadata("k" + i, ""));
    rows.add(acquiring("metadata", "at most 32 entries, has 33", many));
    rows.add(acquiring("metadata", "empty key", locked("a").putMetadata("", "v")));
    rows.add(
        acquiring(
            "metadata", "at most 4096 bytes", locked("a").putMetadata("k", "v".repeat(4_096))));
    rows.add(acquiring("metadata", "is 5121", locked("a").putMetadata("k", "v".repeat(5_120))));
  }

  private static void durations(List<Arguments> rows) {
    rows.add(
        acquiring(
            "wait_timeout", "0 s to 604800 s, is -1 s", locked("a").setWaitTimeout(of(-1, 0))));
    rows.add(
        acquiring(
            "wait_timeout", "is 604800 s + 1 ns", locked("a").setWaitTimeout(of(604_800, 1))));
    rows.add(acquiring("wait_timeout", "malformed", locked("a").setWaitTimeout(of(1, -1))));
    rows.add(acquiring("wait_timeout", "malformed", locked("a").setWaitTimeout(of(-1, 1))));
    rows.add(
        acquiring("wait_timeout", "malformed", locked("a").setWaitTimeout(of(0, 1_000_000_000))));
    rows.add(
        acquiring(
            "wait_timeout", "malformed", locked("a").setWaitTimeout(of(0, Integer.MIN_VALUE))));
    rows.add(
        acquiring("wait_timeout", "malformed", locked("a").setWaitTimeout(of(Long.MIN_VALUE, 0))));
    rows.add(
        acquiring("wait_timeout", "malformed", locked("a").setWaitTimeout(of(Long.MAX_VALUE, 0))));
    rows.add(
        acquiring(
            "position_interval",
            "100 ms to 3600 s, is 99 ms",
            locked("a").setPositionInterval(of(0, 99_000_000))));
    rows.add(
        acquiring("position_interval", "is 3601 s", locked("a").setPositionInterval(of(3_601, 0))));
    rows.add(acquiring("max_hold", "100 ms to 604800 s", locked("a").setMaxHold(of(0, 1))));
    rows.add(acquiring("lock_delay", "0 s to 3600 s", locked("a").setLockDelay(of(3_601, 0))));
    rows.add(
        acquiring(
            "lock_delay", "whole milliseconds, is 1 s + 1 ns", locked("a").setLockDelay(of(1, 1))));
    rows.add(opening("2 s to 3600 s, is 1 s + 999999999 ns", of(1, 999_999_999)));
    rows.add(opening("is 3600 s + 1 ns", of(3_600, 1)));
    rows.add(opening("is 0 s", of(0, 0)));
    rows.add(opening("malformed", of(15, -5)));
  }

  private static void others(List<Arguments> rows) {
    rows.add(
        releasing(
            "fencing_token",
            "or zero; is -1",
            ReleaseRequest.newBuilder().setLeaseId(LEASE).setRequestId("r").setFencingToken(-1)));
    rows.add(
        arguments(
            "fencing_token",
            "above zero; is 0",
            call(
                s ->
                    s.locksNow().checkToken(CheckTokenRequest.newBuilder().setName("a").build()))));
    rows.add(
        arguments(
            "queue_limit",
            "zero or more, is -1",
            call(
                s ->
                    s.locksNow()
                        .getLock(
                            GetLockRequest.newBuilder().setName("a").setQueueLimit(-1).build()))));
    rows.add(
        arguments(
            "page_size",
            "zero or more, is -1",
            call(
                s ->
                    s.locksNow()
                        .listLocks(ListLocksRequest.newBuilder().setPageSize(-1).build()))));
    rows.add(
        arguments(
            "lease_secret",
            "32 to 256 printable ASCII",
            call(
                s ->
                    s.leasesNow()
                        .openLease(
                            OpenLeaseRequest.newBuilder().setLeaseSecret("guess me").build()))));
    rows.add(
        arguments(
            "page_token",
            "next_page_token",
            call(
                s ->
                    s.locksNow()
                        .listLocks(ListLocksRequest.newBuilder().setPageToken("§").build()))));
    rows.add(
        arguments(
            "page_size",
            "zero or more, is -7",
            call(
                s ->
                    s.leasesNow()
                        .listLeases(ListLeasesRequest.newBuilder().setPageSize(-7).build()))));
    rows.add(
        arguments(
            "page_token",
            "next_page_token",
            call(
                s ->
                    s.leasesNow()
                        .listLeases(ListLeasesRequest.newBuilder().setPageToken("!").build()))));
    rows.add(
        arguments(
            "lease_id",
            "empty",
            call(s -> s.leasesNow().getLease(GetLeaseRequest.getDefaultInstance()))));
    rows.add(
        arguments(
            "lease_id",
            "33 bytes of something else",
            call(
                s ->
                    s.leasesNow()
                        .closeLease(
                            CloseLeaseRequest.newBuilder().setLeaseId(LEASE + "0").build()))));
    WatchRequest.Builder many = WatchRequest.newBuilder();
    IntStream.range(0, 257).forEach(i -> many.addNames("n" + i));
    rows.add(watching("names", "at most 256 names, are 257", many));
    rows.add(
        watching(
            "prefix",
            "must be empty when names",
            WatchRequest.newBuilder().addNames("a").setPrefix("b")));
    rows.add(watching("start_revision", "is -1", WatchRequest.newBuilder().setStartRevision(-1)));
  }

  private static Consumer<InProcess> call(Consumer<InProcess> call) {
    return call;
  }

  private static Arguments acquiring(String field, String words, AcquireRequest.Builder request) {
    return arguments(field, words, call(s -> s.locksNow().acquire(request.build()).next()));
  }

  private static Arguments watching(String field, String words, WatchRequest.Builder request) {
    return arguments(field, words, call(s -> s.locksNow().watch(request.build()).next()));
  }

  private static Arguments releasing(String field, String words, ReleaseRequest.Builder request) {
    return arguments(field, words, call(s -> s.locksNow().release(request.build())));
  }

  private static Arguments opening(String words, Duration ttl) {
    return arguments(
        "ttl",
        words,
        call(s -> s.leasesNow().openLease(OpenLeaseRequest.newBuilder().setTtl(ttl).build())));
  }

  private static AcquireRequest.Builder locked(String name) {
    return AcquireRequest.newBuilder().addLocks(lock(name));
  }

  private static LockRequest.Builder lock(String name) {
    return LockRequest.newBuilder().setName(name);
  }

  private static Arguments mode(String field, String words, LockRequest.Builder lock) {
    return acquiring("locks[0]." + field, words, AcquireRequest.newBuilder().addLocks(lock));
  }

  private static LockRequest.Builder permits(int permits, int limit) {
    return lock("a").setMode(LockMode.LOCK_MODE_PERMITS).setPermits(permits).setLimit(limit);
  }

  private static LockRequest.Builder custom(String custom) {
    return lock("a").setMode(LockMode.LOCK_MODE_CUSTOM).setCustom(custom);
  }

  private static Duration of(long seconds, int nanos) {
    return Duration.newBuilder().setSeconds(seconds).setNanos(nanos).build();
  }
}
