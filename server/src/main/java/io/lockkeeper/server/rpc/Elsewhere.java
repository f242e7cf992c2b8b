package io.lockkeeper.server.rpc;

import io.grpc.Metadata;
import io.lockkeeper.server.core.Failure;

/**
 * What coordinators tell each other in the headers and trailers of forwarded calls. Clients never
 * see any of it.
 */
final class Elsewhere {

  /** A header: the id of the coordinator that has forwarded the request. */
  static final Metadata.Key<String> FORWARDED_BY =
      Metadata.Key.of("lockkeeper-forwarded-by", Metadata.ASCII_STRING_MARSHALLER);

  /** A trailer of refusals by a coordinator that does not serve the lease: another one may. */
  static final Metadata.Key<String> KEY =
      Metadata.Key.of("lockkeeper-elsewhere", Metadata.ASCII_STRING_MARSHALLER);

  /** The value of the trailer. */
  static final String VALUE = "1";

  private Elsewhere() {}

  /** Returns whether a request that failed so may succeed at another coordinator. */
  static boolean mayHelp(Failure.Kind kind) {
    return kind == Failure.Kind.UNKNOWN_LEASE || kind == Failure.Kind.MOVED;
  }

  /** Returns whether the refusal that came with these trailers has the mark. */
  static boolean isMarked(Metadata trailers) {
    return trailers.containsKey(KEY);
  }
}
