package io.lockkeeper.server.rpc.call;

import io.grpc.Attributes;
import io.lockkeeper.server.security.Identity;
import java.util.Optional;

/** Finds out once for each connection who is at its other end, as its certificate proves. */
public final class ConnectionIdentity {

  private ConnectionIdentity() {}

  /** Who is at the other end. */
  public record Caller(Optional<Identity> identity, boolean isPeer, Optional<String> refusal) {

    /** Somebody without a certificate. */
    public static final Caller UNKNOWN = new Caller(Optional.empty(), false, Optional.empty());
  }

  /** Returns who is at the other end of the connection that a call came by. */
  public static Caller of(Attributes attributes) {
    return Caller.UNKNOWN;
  }
}
