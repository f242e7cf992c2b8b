package io.lockkeeper.client;

/** No server could be reached, or none could serve, in time. Nothing is wrong with the request. */
public final class ServerUnavailableException extends LockkeeperException {

  private static final long serialVersionUID = 1L;

  ServerUnavailableException(String message) {
    super(message);
  }

  ServerUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}
