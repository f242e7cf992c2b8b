package io.lockkeeper.server.web.http;

import java.util.concurrent.CompletableFuture;

/** What a listener serves. Asked on the connection's thread; never blocks. */
public interface Site {

  /**
   * Returns the answer, which may come later. Cancelled if the visitor goes before it has come; an
   * answer that comes all the same is dropped.
   */
  CompletableFuture<Response> at(Request request);
}
