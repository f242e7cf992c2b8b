package io.lockkeeper.client;

import java.util.List;

/** No server could be reached, or none could serve, in time. Nothing is wrong with the request. */
public final class ServerUnavailableException extends LockkeeperException {

  private static final long serialVersionUID = 1L;
  private final String[] failures;

  /**
   * Makes the failure of a request that no server answered.
   *
   * @param failures what each server was tried in vain for, human-readable
   */
  public ServerUnavailableException(String message, List<String> failures) {
    super(message);
    this.failures = failures.toArray(String[]::new);
  }

  /** Makes the failure of a request that no server answered. */
  public ServerUnavailableException(String message, Throwable cause) {
    super(message, cause);
    failures = new String[0];
  }

  /**
   * Returns the servers that were tried, each with why it was in vain, human-readable: {@code
   * localhost:7420: Connection refused}. Empty: the message says all that is known.
   */
  public List<String> failures() {
    return List.of(failures);
  }
}
