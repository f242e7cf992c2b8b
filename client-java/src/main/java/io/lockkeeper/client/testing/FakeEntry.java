package io.lockkeeper.client.testing;

import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.PreviousEnd;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** One entry of a lock's queue: what one acquisition has of that lock. */
final class FakeEntry {

  final FakeAcquisition creator;
  final FakeQueue queue;

  /** What is asked for; the limit of permits is the one in force when it was. */
  final LockRequest wanted;

  /** Of those that an owner placed beside what it holds, that of the first. */
  final long token;

  Map<String, String> metadata;
  boolean held;
  boolean granted;
  PreviousEnd previousEnd = PreviousEnd.PREVIOUS_END_UNSPECIFIED;
  Optional<Long> releaseAtNanos = Optional.empty();
  private final long queuedAtNanos;
  private long heldAtNanos;

  FakeEntry(
      FakeAcquisition creator, FakeQueue queue, LockRequest wanted, long token, long nowNanos) {
    this.creator = creator;
    this.queue = queue;
    this.wanted = wanted;
    this.token = token;
    this.queuedAtNanos = nowNanos;
    this.metadata = creator.request.getMetadataMap();
  }

  LockMode mode() {
    return wanted.getMode();
  }

  /** It is admitted now: nothing that is ahead of it excludes it. */
  void hold(long nowNanos) {
    held = true;
    heldAtNanos = nowNanos;
  }

  /** Returns whether {@code owner} of {@code lease}, not empty, has been granted this entry. */
  boolean isHeldBy(FakeLease lease, String owner) {
    return !owner.isEmpty()
        && creator.lease == lease
        && creator.request.getOwner().equals(owner)
        && creator.state == FakeAcquisition.State.HELD;
  }

  /**
   * Returns whether both are at one place in the queue: the owner of one placed the other there.
   */
  boolean isBeside(FakeEntry other) {
    return queue == other.queue && token == other.token;
  }

  /** Returns the levels of this hold that its owner has been granted beside it, in their order. */
  List<FakeEntry> levelsBeside() {
    return queue.entries.stream()
        .filter(e -> e != this && e.isBeside(this) && e.mode() == mode())
        .filter(e -> e.creator.state == FakeAcquisition.State.HELD)
        .sorted(Comparator.comparingLong(e -> e.creator.grantNumber))
        .toList();
  }

  Contender toContender(long nowNanos) {
    Contender.Builder contender =
        Contender.newBuilder()
            .setLeaseTag(creator.lease.tag())
            .setRequestId(creator.requestId)
            .setOwner(creator.request.getOwner())
            .setHolder(creator.holder())
            .setMode(mode())
            .putAllMetadata(metadata)
            .setQueuedFor(FakeTime.toProto(nowNanos - queuedAtNanos))
            .setHeldFor(FakeTime.toProto(held ? nowNanos - heldAtNanos : 0))
            .setFencingToken(held ? token : 0)
            .setEntry("in-memory-" + mode().getNumber() + "-" + creator.number + "-" + token)
            .setPermits(wanted.getPermits())
            .setLimit(wanted.getLimit());
    releaseAtNanos.ifPresent(
        at -> contender.setReleaseIn(FakeTime.toProto(Math.max(0, at - nowNanos))));
    return contender.build();
  }
}
