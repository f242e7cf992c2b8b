package io.lockkeeper.server.rpc.forward;

import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.rpc.wire.PeerHeaders;
import io.lockkeeper.server.rpc.wire.Refusal;
import io.lockkeeper.server.rpc.wire.Statuses;
import java.net.ConnectException;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Tells what a peer has answered from what went wrong on the way. */
final class PeerFailure {

  private static final Metadata.Key<byte[]> DETAILS =
      Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);

  // What gRPC makes of connections that end, streams that are reset, and halves of messages.
  private static final Set<Code> TRANSPORT =
      Set.of(Code.UNAVAILABLE, Code.CANCELLED, Code.INTERNAL, Code.UNKNOWN);

  private PeerFailure() {}

  /**
   * Returns whether a call that was not cancelled here broke off, or never arrived: what a
   * coordinator itself says comes with details.
   */
  static boolean isOnTheWay(Status status, Metadata trailers) {
    return TRANSPORT.contains(status.getCode()) && !trailers.containsKey(DETAILS);
  }

  /**
   * Returns whether the client is told what the peer has told: a decision of a coordinator, or that
   * the client's own deadline has passed.
   */
  static boolean isPassedOn(Status status, Metadata trailers) {
    return trailers.containsKey(DETAILS) || status.getCode() == Code.DEADLINE_EXCEEDED;
  }

  /** Returns whether the peer's machine has refused the connection: nobody listens at the port. */
  static boolean isRefused(Status status) {
    return status.getCause() instanceof ConnectException refusal
        && String.valueOf(refusal.getMessage()).toLowerCase(Locale.ROOT).contains("refused");
  }

  /** Returns the id of the coordinator that rejected a call because it is not the addressee. */
  static Optional<String> otherCoordinator(@Nullable Metadata trailers) {
    return Optional.ofNullable(trailers).map(all -> all.get(PeerHeaders.COORDINATOR));
  }

  /** Returns those of the trailers that are for the client. */
  static Metadata details(Metadata trailers) {
    Metadata details = new Metadata();
    byte[] value = trailers.get(DETAILS);
    if (value != null) {
      details.put(DETAILS, value);
    }
    return details;
  }

  /** Returns the refusal of a request that is one too many for a peer. */
  static Refusal tooMuch() {
    return Statuses.of(
        new Failure(
            Failure.Reason.TOO_MANY, "too many requests are with the coordinator of this lease"));
  }
}
