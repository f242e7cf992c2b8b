package io.lockkeeper.server.rpc;

import io.grpc.Metadata;
import io.lockkeeper.server.core.Failure;

/**
 * Marks refusals of a coordinator that does not serve the lease: another one may. The mark is a
 * trailer, for the coordinator that has forwarded the request; clients never see it.
 */
final class Elsewhere {

  static final Metadata.Key<String> KEY =
      Metadata.Key.of("lockkeeper-elsewhere", Metadata.ASCII_STRING_MARSHALLER);
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
