package io.lockkeeper.server.web.http;

import io.netty.handler.codec.http.HttpHeaders;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Supplier;

/**
 * One whole request.
 *
 * @param method {@code GET}, {@code HEAD} or {@code POST}
 * @param path the path, still percent-encoded
 * @param query what follows the question mark, still percent-encoded; empty: nothing
 * @param headers the headers
 * @param body the body; empty unless the method is {@code POST}
 * @param visitor who asks
 * @param thread the connection's thread
 * @param streamPlace takes the place that a stream needs; returns why there is none, if so
 */
public record Request(
    String method,
    String path,
    String query,
    HttpHeaders headers,
    String body,
    Visitor visitor,
    ScheduledExecutorService thread,
    Supplier<Optional<StreamRefusal>> streamPlace) {

  /** Why a request gets no stream. */
  public enum StreamRefusal {
    /** Before HTTP/1.1 an answer whose length is not known has no end that can be told. */
    OLD_PROTOCOL,
    /** The server has as many streams as it may have. */
    NO_PLACE
  }

  /** Returns a header. */
  public Optional<String> header(CharSequence name) {
    return Optional.ofNullable(headers.get(name));
  }

  /** Returns whether nothing is asked for that changes anything. */
  public boolean isRead() {
    return !method.equals("POST");
  }
}
