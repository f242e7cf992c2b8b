package io.lockkeeper.server.web;

/**
 * One answer over HTTP.
 *
 * @param status the status code
 * @param contentType the type of the body
 * @param body the body
 */
record Page(int status, String contentType, String body) {

  static Page text(int status, String body) {
    return new Page(status, "text/plain; charset=utf-8", body);
  }
}
