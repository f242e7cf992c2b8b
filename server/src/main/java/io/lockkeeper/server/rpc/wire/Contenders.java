package io.lockkeeper.server.rpc.wire;

import io.lockkeeper.v1.Contender;
import java.util.List;

/**
 * Translates the contenders of one message. Many may share a lock, and a message names many locks:
 * all their metadata would not fit what a client takes. So metadata has a share of the message, and
 * is left out where that is used up.
 *
 * <p>A caller without the right {@code read} on a lock is shown the modes of its contenders, and
 * nothing else of them.
 */
public final class Contenders {

  /** How many holders are told where they are not what was asked for. */
  static final int FEW = 16;

  /** Shown to callers without the right {@code read} instead of who a contender is. */
  private static final String HIDDEN = "(hidden)";

  private static final int METADATA_SHARE_BYTES = 512 * 1024;

  private int bytesLeft = METADATA_SHARE_BYTES;

  /**
   * Returns the first of the contenders, {@code limit} at most.
   *
   * @param readable whether the caller has the right {@code read} on the lock
   */
  List<Contender> toMessages(
      List<io.lockkeeper.server.core.api.Contender> contenders, int limit, boolean readable) {
    return contenders.stream()
        .limit(limit)
        .map(contender -> readable ? toFittingMessage(contender) : toHidden(contender))
        .toList();
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

  private static Contender toHidden(io.lockkeeper.server.core.api.Contender contender) {
    Contender.Builder message = Contender.newBuilder().setHolder(HIDDEN);
    Modes.describe(contender.mode(), message);
    return message.build();
  }

  /** Returns a contender whole, or what is shown of it if it is not readable. */
  static Contender toMessage(io.lockkeeper.server.core.api.Contender contender, boolean readable) {
    return readable ? toMessage(contender) : toHidden(contender);
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
