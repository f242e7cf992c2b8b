package io.lockkeeper.server.security;

import java.time.Instant;
import java.util.Optional;

/** Finds out who calls by what the call brings along. Asked on any thread; never blocks. */
public interface Authenticator {

  /** Knows no tokens. */
  Authenticator NONE =
      (token, address) -> {
        throw new UnauthenticatedException(
            "this server takes no bearer tokens: show a client certificate");
      };

  /**
   * Returns whose bearer token it is: a JWT, or a static token.
   *
   * @param address from where it comes: invalid tokens are counted by it
   * @throws UnauthenticatedException if it is nobody's; the message says why, and never what the
   *     token was
   * @throws TooManyFailuresException if too many tokens from there were invalid
   */
  Identity ofBearerToken(String token, String address);

  /** Returns until when it counts, of one that was accepted; empty: until it is withdrawn. */
  default Optional<Instant> expiryOf(String token, String address) {
    return Optional.empty();
  }
}
