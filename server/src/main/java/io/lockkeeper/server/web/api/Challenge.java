package io.lockkeeper.server.web.api;

/** How visitors are asked to say who they are. */
public final class Challenge {

  /** The value of the header {@code WWW-Authenticate}: a token as a password, or as it is. */
  public static final String BASIC = "Basic realm=\"lockkeeper\", charset=\"UTF-8\"";

  private Challenge() {}
}
