package io.lockkeeper.server.rpc.call;

import io.grpc.Grpc;
import io.grpc.InternalMetadata;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.lockkeeper.server.rpc.wire.Refusal;
import io.lockkeeper.server.rpc.wire.Statuses;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Optional;

/**
 * How many calls may be open at a time, in all and from one address, and how long one may take to
 * say what it wants: a call that was opened and nothing more costs memory too.
 */
public final class CallAdmission {

  // Of a transport without addresses.
  private static final SocketAddress NOWHERE = InetSocketAddress.createUnresolved("nowhere", 0);

  /** What a header counts besides its name and value (RFC 9113, 6.5.2). */
  private static final int HEADER_OVERHEAD = 32;

  private final Slots slots;
  private final int max;
  private final int maxOfAddress;
  private final int maxMetadataBytes;
  private final Duration firstMessageWithin;
  private final RefusalCounts refusals;

  /**
   * Prepares.
   *
   * @param max calls in all
   * @param maxOfAddress calls from one address
   * @param maxMetadataBytes the largest set of request headers
   * @param firstMessageWithin how long one may take to send its first message
   */
  public CallAdmission(
      int max,
      int maxOfAddress,
      int maxMetadataBytes,
      Duration firstMessageWithin,
      RefusalCounts refusals) {
    this.slots = new Slots(max, maxOfAddress);
    this.max = max;
    this.maxOfAddress = maxOfAddress;
    this.maxMetadataBytes = maxMetadataBytes;
    this.firstMessageWithin = firstMessageWithin;
    this.refusals = refusals;
  }

  /** Returns why a call with these headers is rejected, if they are too large. */
  Optional<Refusal> refusalOf(Metadata headers) {
    int bytes = 0;
    for (byte[] nameOrValue : InternalMetadata.serialize(headers)) {
      bytes += nameOrValue.length + HEADER_OVERHEAD / 2;
    }
    return bytes <= maxMetadataBytes
        ? Optional.empty()
        : Optional.of(
            Statuses.limitReached(
                "the call's headers take "
                    + bytes
                    + " bytes (32 per header included); the limit is "
                    + maxMetadataBytes));
  }

  /** Takes a place for the call until {@code end} says that it is over, or returns why not. */
  Optional<Refusal> admit(ServerCall<?, ?> call, CallEnd end) {
    SocketAddress from = call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
    SocketAddress known = from == null ? NOWHERE : from;
    Optional<Refusal> refusal = slots.take(known).map(this::refuse);
    if (refusal.isEmpty()) {
      end.onClosed(() -> slots.free(known));
    }
    return refusal;
  }

  private Refusal refuse(Slots.Full why) {
    return switch (why) {
      case IN_ALL -> {
        refusals.count(Limit.CALLS);
        yield Statuses.limitReached(
            "the server has as many open calls as it may have, which is " + max);
      }
      case OF_ADDRESS -> {
        refusals.count(Limit.ADDRESS_CALLS);
        yield Statuses.limitReached(
            "this client's address has as many open calls as it may have, which is "
                + maxOfAddress);
      }
    };
  }

  /** Returns whether a call that has sent no message since then has had its time. */
  boolean isOverdue(long startNanos, long nowNanos) {
    return nowNanos - startNanos > firstMessageWithin.toNanos();
  }

  /** Returns why a call ends that is overdue. */
  Refusal overdue() {
    refusals.count(Limit.FIRST_MESSAGE);
    return Statuses.limitReached(
        "the call has sent no whole request within " + firstMessageWithin.toMillis() + " ms");
  }

  /** Returns how many calls are open. */
  public int open() {
    return slots.taken();
  }
}
