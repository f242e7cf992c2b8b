package io.lockkeeper.server.web;

import io.lockkeeper.server.security.Identity;
import io.lockkeeper.server.security.TooManyFailuresException;
import io.lockkeeper.server.security.UnauthenticatedException;
import io.lockkeeper.server.web.api.ApiChannels;
import io.lockkeeper.server.web.http.Visitor;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;

/** Finds out who a visitor is. */
final class Visitors {

  private static final String BEARER = "Bearer ";
  private static final String BASIC = "Basic ";

  private final PagesSettings settings;

  Visitors(PagesSettings settings) {
    this.settings = settings;
  }

  /**
   * Returns who it is: by the token that he sends as a bearer token or as a password, or else by
   * his certificate; as gRPC knows its callers.
   *
   * @throws UnauthenticatedException if nobody knows; the message says why
   * @throws TooManyFailuresException if too many tokens from the visitor's address were invalid
   */
  Identity identify(Visitor visitor) {
    ApiChannels.Caller caller = caller(visitor);
    return caller
        .bearerToken()
        .map(token -> settings.authenticator().ofBearerToken(token, address(visitor)))
        .or(caller::certified)
        .orElseThrow();
  }

  private static String address(Visitor visitor) {
    return visitor.address().getAddress().getHostAddress();
  }

  /**
   * Returns by what he is to be known; a token has not been looked at.
   *
   * @throws UnauthenticatedException if he brings nothing that counts; the message says why
   */
  ApiChannels.Caller caller(Visitor visitor) {
    if (visitor.authorization().isPresent()) {
      String token = token(visitor.authorization().get());
      return new ApiChannels.Caller(visitor.address(), Optional.empty(), Optional.of(token));
    }
    if (visitor.certificates().isEmpty()) {
      throw new UnauthenticatedException(
          "show a client certificate, or send a token as a bearer token or as a password");
    }
    Identity certified = settings.identities().apply(visitor.certificates());
    return new ApiChannels.Caller(visitor.address(), Optional.of(certified), Optional.empty());
  }

  // Schemes are told apart without regard to case (RFC 9110, 11.1).
  private static String token(String authorization) {
    if (authorization.regionMatches(true, 0, BEARER, 0, BEARER.length())) {
      return authorization.substring(BEARER.length()).trim();
    }
    if (authorization.regionMatches(true, 0, BASIC, 0, BASIC.length())) {
      return password(authorization.substring(BASIC.length()).trim());
    }
    throw new UnauthenticatedException("the header Authorization must be Bearer or Basic");
  }

  private static String password(String credentials) {
    try {
      String text = new String(Base64.getDecoder().decode(credentials), StandardCharsets.UTF_8);
      int colon = text.indexOf(':');
      if (colon >= 0) {
        return text.substring(colon + 1);
      }
    } catch (IllegalArgumentException e) {
      // As without a colon.
    }
    throw new UnauthenticatedException("what follows Basic must be USER:TOKEN in Base64");
  }
}
