package io.lockkeeper.server.rpc.wire;

import io.grpc.Metadata;
import io.lockkeeper.server.core.api.Failure;

/**
 * What coordinators tell each other in the headers and trailers of forwarded calls. Clients never
 * see any of it.
 */
public final class PeerHeaders {

  /** A header: the id of the coordinator that has forwarded the request. */
  public static final Metadata.Key<String> FORWARDED_BY =
      Metadata.Key.of("lockkeeper-forwarded-by", Metadata.ASCII_STRING_MARSHALLER);

  /**
   * A header beside that: the names of whom the request comes from, each in Base64, separated by
   * commas. Believed only from a connection that has proved to be a coordinator's.
   */
  public static final Metadata.Key<String> CALLER =
      Metadata.Key.of("lockkeeper-caller", Metadata.ASCII_STRING_MARSHALLER);

  /** A header beside that: the address that he called from. Believed in the same way. */
  public static final Metadata.Key<String> CALLER_ADDRESS =
      Metadata.Key.of("lockkeeper-caller-address", Metadata.ASCII_STRING_MARSHALLER);

  /**
   * A header of all calls to a peer: the id of the coordinator that the call is for. Its address
   * may lead to another one, which rejects the call and states its own id in a trailer of this
   * name. A release without this header accepts every call.
   */
  public static final Metadata.Key<String> COORDINATOR =
      Metadata.Key.of("lockkeeper-coordinator", Metadata.ASCII_STRING_MARSHALLER);

  /** A trailer of refusals by a coordinator that does not serve the lease: another one may. */
  public static final Metadata.Key<String> NOT_SERVED_HERE =
      Metadata.Key.of("lockkeeper-elsewhere", Metadata.ASCII_STRING_MARSHALLER);

  /** The value of the trailer. */
  static final String VALUE = "1";

  private PeerHeaders() {}

  /** Returns whether a request that failed so may succeed at another coordinator. */
  public static boolean mayHelp(Failure.Reason reason) {
    return reason == Failure.Reason.UNKNOWN_LEASE || reason == Failure.Reason.MOVED;
  }

  /** Returns whether the refusal that came with these trailers has the mark. */
  public static boolean isMarked(Metadata trailers) {
    return trailers.containsKey(NOT_SERVED_HERE);
  }
}
