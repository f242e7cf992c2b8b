package io.lockkeeper.server.app;

/**
 * A server cannot start, or cannot go on. The message is one human-readable line: what, and what to
 * do about it.
 */
public final class StartException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** Says what is wrong. */
  public StartException(String message) {
    super(message);
  }

  /** Says what is wrong and keeps its cause for the log. */
  public StartException(String message, Throwable cause) {
    super(message, cause);
  }
}
