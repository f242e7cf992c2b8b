package io.lockkeeper.client;

import java.util.stream.Collectors;

/** No server could be reached, or none could serve, in time. Nothing is wrong with the request. */
public final class ServerUnavailableException extends LockkeeperException {

  private static final long serialVersionUID = 1L;

  ServerUnavailableException(String message) {
    super(message);
  }

  private ServerUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }

  static ServerUnavailableException of(Settings settings, String lastFailure) {
    return new ServerUnavailableException(message(settings, lastFailure));
  }

  static ServerUnavailableException of(Settings settings, String lastFailure, Throwable cause) {
    return new ServerUnavailableException(message(settings, lastFailure), cause);
  }

  private static String message(Settings settings, String lastFailure) {
    return "no server answered within "
        + settings.requestTimeout()
        + ": check that one of "
        + settings.servers().stream().map(Object::toString).collect(Collectors.joining(", "))
        + " runs and can reach ZooKeeper; last: "
        + lastFailure;
  }
}
