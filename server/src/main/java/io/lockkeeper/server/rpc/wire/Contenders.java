package io.lockkeeper.server.rpc.wire;

import io.lockkeeper.v1.Contender;
import java.util.List;

/**
 * Translates the contenders of one message. Many may share a lock, and a message names many locks:
 * all their metadata would not fit what a client takes. So metadata has a share of the message, and
 * is left out where that is used up.
 */
public final class Contenders {

  /** How many holders are told where they are not what was asked for. */
  static final int FEW = 16;

  private static final int METADATA_SHARE_BYTES = 512 * 1024;

  private int bytesLeft = METADATA_SHARE_BYTES;

  /** Returns the first of the contenders, {@code limit} at most. */
  List<Contender> toMessages(List<io.lockkeeper.server.core.api.Contender> contenders, int limit) {
    return contenders.stream().limit(limit).map(this::toFittingMessage).toList();
  }

  private Contender toFittingMessage(io.lockkeeper.server.core.api.Contender contender) {
    Contender message = toMessage(contender);
    if (contender.metadata().isEmpty()) {
      return message;
    }
    if (message.getSerializedSize() > bytesLeft) {
      return message.toBuilder().clearMetadata().build();
    }
    bytesLeft -= message.getSerializedSize();
    return message;
  }

  /** Returns a contender whole. */
  public static Contender toMessage(io.lockkeeper.server.core.api.Contender contender) {
    Contender.Builder message =
        Contender.newBuilder()
            .setLeaseTag(contender.leaseTag())
            .setRequestId(contender.requestId())
            .setOwner(contender.owner())
            .setHolder(contender.holder())
            .putAllMetadata(contender.metadata())
            .setQueuedFor(ProtoDurations.ofNanos(contender.queuedForNanos()))
            .setEntry(contender.entry())
            .setAtLeast(contender.atLeast());
    Modes.describe(contender.mode(), message);
    contender.heldForNanos().ifPresent(nanos -> message.setHeldFor(ProtoDurations.ofNanos(nanos)));
    contender.token().ifPresent(token -> message.setFencingToken(token.value()));
    contender.needsNanos().ifPresent(nanos -> message.setReleaseIn(ProtoDurations.ofNanos(nanos)));
    return message.build();
  }
}
