package io.lockkeeper.client.testing;

import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.PreviousEnd;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** One entry of a lock's queue. By reentrancy, several acquisitions of one owner may share it. */
final class FakeEntry {

  final FakeAcquisition creator;
  final FakeQueue queue;

  /** What is asked for; the limit of permits is the one in force when it was. */
  final LockRequest wanted;

  final long token;
  final Set<FakeAcquisition> sharers = new LinkedHashSet<>();
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
    sharers.add(creator);
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
        && sharers.stream().anyMatch(a -> a.state == FakeAcquisition.State.HELD);
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
            .setEntry("in-memory-" + mode().getNumber() + "-" + token)
            .setPermits(wanted.getPermits())
            .setLimit(wanted.getLimit());
    releaseAtNanos.ifPresent(
        at -> contender.setReleaseIn(FakeTime.toProto(Math.max(0, at - nowNanos))));
    return contender.build();
  }
}
