package io.lockkeeper.server.web;

import java.util.Map;

/**
 * One answer over HTTP.
 *
 * @param status the status code
 * @param contentType the type of the body
 * @param body the body
 * @param headers headers besides those that every page has
 */
record Page(int status, String contentType, String body, Map<String, String> headers) {

  Page(int status, String contentType, String body) {
    this(status, contentType, body, Map.of());
  }

  static Page text(int status, String body) {
    return new Page(status, "text/plain; charset=utf-8", body);
  }

  Page with(String header, String value) {
    return new Page(status, contentType, body, Map.of(header, value));
  }
}
