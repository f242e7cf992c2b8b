package io.lockkeeper.client.testing;

import com.google.protobuf.Duration;
import io.lockkeeper.client.internal.Loop;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.LockMode;
import java.util.Optional;
import java.util.function.Consumer;

/** An acquisition of the in-memory server, and its entry in the queue. */
final class FakeAcquisition {

  enum State {
    WAITING,
    HELD,
    ENDED
  }

  final FakeLease lease;
  final String requestId;
  final AcquireRequest request;
  final String lock;
  final long token;
  final long queuedAtNanos;
  State state = State.WAITING;
  long heldAtNanos;
  Optional<Loop.Timer> waitLimit = Optional.empty();
  Optional<Loop.Timer> positions = Optional.empty();
  Optional<Consumer<AcquireResponse>> stream = Optional.empty();
  Optional<AcquireResponse> last = Optional.empty();
  private long sequence;

  FakeAcquisition(
      FakeLease lease, String requestId, AcquireRequest request, long token, long nowNanos) {
    this.lease = lease;
    this.requestId = requestId;
    this.request = request;
    this.lock = request.getLocks(0).getName();
    this.token = token;
    this.queuedAtNanos = nowNanos;
  }

  /** Tells the client what happened, as the next in the sequence. */
  void tell(AcquireResponse.Builder event) {
    AcquireResponse numbered = event.setRequestId(requestId).setSequence(++sequence).build();
    last = Optional.of(numbered);
    retell();
  }

  /** Tells what was told last, with its old number. */
  void retell() {
    last.ifPresent(
        event -> {
          stream.ifPresent(s -> s.accept(event));
          lease.session.ifPresent(s -> s.tell(event));
        });
  }

  /** Takes the timers back. */
  void stopTimers() {
    waitLimit.ifPresent(Loop.Timer::cancel);
    positions.ifPresent(Loop.Timer::cancel);
  }

  Contender toContender(long nowNanos) {
    boolean held = state == State.HELD;
    return Contender.newBuilder()
        .setLeaseTag(lease.tag())
        .setRequestId(requestId)
        .setHolder(request.getHolder().isEmpty() ? lease.holder : request.getHolder())
        .setMode(LockMode.LOCK_MODE_EXCLUSIVE)
        .putAllMetadata(request.getMetadataMap())
        .setQueuedFor(toProto(nowNanos - queuedAtNanos))
        .setHeldFor(toProto(held ? nowNanos - heldAtNanos : 0))
        .setFencingToken(held ? token : 0)
        .setEntry("in-memory-" + token)
        .build();
  }

  static Duration toProto(long nanos) {
    return Duration.newBuilder()
        .setSeconds(nanos / 1_000_000_000L)
        .setNanos((int) (nanos % 1_000_000_000L))
        .build();
  }

  static long toNanos(Duration duration) {
    return duration.getSeconds() * 1_000_000_000L + duration.getNanos();
  }
}
