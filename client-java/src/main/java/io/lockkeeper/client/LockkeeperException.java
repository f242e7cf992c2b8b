package io.lockkeeper.client;

/** The base of all failures of Lockkeeper. The message says what to do. */
public class LockkeeperException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** Creates one that nothing else caused. */
  public LockkeeperException(String message) {
    super(message);
  }

  /** Creates one with its cause. */
  public LockkeeperException(String message, Throwable cause) {
    super(message, cause);
  }
}
