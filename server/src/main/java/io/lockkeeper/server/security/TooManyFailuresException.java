package io.lockkeeper.server.security;

/** An address has sent too many invalid tokens, so that no further one is verified for now. */
public final class TooManyFailuresException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** Makes one; the message goes to the client, and names the limit. */
  public TooManyFailuresException(String message) {
    super(message);
  }
}
