package io.lockkeeper.server.web;

import java.util.concurrent.CompletableFuture;

/** What a listener serves. Asked on the listener's thread; never blocks. */
interface Site {

  /** Returns the page under {@code path}; may come later, and never fails. */
  CompletableFuture<Page> at(String path, Visitor visitor);
}
