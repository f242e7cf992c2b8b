package io.lockkeeper.server.security;

import java.time.Instant;
import java.util.Optional;

/**
 * Takes JWTs, static tokens, or both. A token with two dots is a JWT where these are taken, and
 * nothing else is tried.
 */
public final class BearerTokens implements Authenticator {

  private final Optional<JwtTokens> jwts;
  private final Optional<ReloadedFile<StaticTokens>> tokens;

  /** Takes what is given of the two. */
  public BearerTokens(Optional<JwtTokens> jwts, Optional<ReloadedFile<StaticTokens>> tokens) {
    this.jwts = jwts;
    this.tokens = tokens;
  }

  @Override
  public Identity ofBearerToken(String token, String address) {
    if (jwts.isEmpty() && tokens.isEmpty()) {
      return NONE.ofBearerToken(token, address);
    }
    if (token.isEmpty()) {
      throw new UnauthenticatedException("the bearer token is empty");
    }
    if (token.length() > JwtTokens.MAX_CHARS) {
      throw new UnauthenticatedException(
          "the bearer token has "
              + token.length()
              + " characters, more than "
              + JwtTokens.MAX_CHARS);
    }
    Optional<JwtTokens> taking = takingJwt(token);
    if (taking.isPresent()) {
      return taking.get().identityOf(token, address);
    }
    return tokens
        .flatMap(file -> file.get().identityOf(token))
        .orElseThrow(() -> new UnauthenticatedException("the bearer token is not known"));
  }

  @Override
  public Optional<Instant> expiryOf(String token, String address) {
    return takingJwt(token).map(jwt -> jwt.expiryOf(token, address));
  }

  private Optional<JwtTokens> takingJwt(String token) {
    return jwts.filter(jwt -> tokens.isEmpty() || JwtTokens.isOne(token));
  }
}
