package io.lockkeeper.client;

/** No server could be reached, or none could serve, in time. Nothing is wrong with the request. */
public final class ServerUnavailableException extends LockkeeperException {

  private static final long serialVersionUID = 1L;

  /** Makes the failure of a request that no server answered. */
  public ServerUnavailableException(String message) {
    super(message);
  }

  /** Makes the failure of a request that no server answered. */
  public ServerUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}
