package io.lockkeeper.server.security;

/** Nobody knows who calls. */
public final class UnauthenticatedException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** Makes one; the message goes to the client, and names no secret. */
  public UnauthenticatedException(String message) {
    super(message);
  }
}
