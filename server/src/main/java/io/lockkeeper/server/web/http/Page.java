package io.lockkeeper.server.web.http;

import java.util.HashMap;
import java.util.Map;

/**
 * An answer that comes whole.
 *
 * @param status the status code
 * @param contentType the type of the body
 * @param body the body
 * @param headers headers besides those that every page has, or instead of them
 */
public record Page(int status, String contentType, String body, Map<String, String> headers)
    implements Response {

  /** Copies the headers. */
  public Page {
    headers = Map.copyOf(headers);
  }

  /** Makes one without headers of its own. */
  public Page(int status, String contentType, String body) {
    this(status, contentType, body, Map.of());
  }

  /** Makes one of plain text. */
  public static Page text(int status, String body) {
    return new Page(status, "text/plain; charset=utf-8", body);
  }

  /** Returns the same with one more header. */
  public Page with(String header, String value) {
    Map<String, String> more = new HashMap<>(headers);
    more.put(header, value);
    return new Page(status, contentType, body, more);
  }
}
