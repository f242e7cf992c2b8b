package io.lockkeeper.bench.runner;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.Optional;

/** What servers say of themselves over HTTP. */
final class Http {

  private static final HttpClient CLIENT = HttpClient.newHttpClient();
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private Http() {}

  /** A status and the text that came with it. */
  record Answer(int status, String body) {}

  /** Asks a server that serves, and waits half a minute at most until the answer begins. */
  static Answer get(URI address) throws IOException {
    try {
      HttpResponse<String> answer =
          CLIENT.send(
              HttpRequest.newBuilder(address).timeout(PATIENCE).build(), BodyHandlers.ofString());
      return new Answer(answer.statusCode(), answer.body());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  /** Asks a server that may not be there yet; empty if nobody begins to answer in half a minute. */
  static Optional<Answer> find(URI address) throws IOException {
    try {
      return Optional.of(get(address));
    } catch (ConnectException | HttpTimeoutException notYet) {
      return Optional.empty();
    }
  }
}
