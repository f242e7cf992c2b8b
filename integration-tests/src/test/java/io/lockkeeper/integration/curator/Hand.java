package io.lockkeeper.integration.curator;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * One thread of a peer: what it acquires is its own, and it does one thing after the other.
 *
 * @param peer the process
 * @param thread the thread's name
 */
record Hand(CuratorProcess peer, String thread) {

  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /** Asks for a lock, and waits for it. */
  void acquire(Recipe recipe, String path) {
    if (!CuratorProcess.join(tryAcquire(recipe, path, PATIENCE), "grant of " + path)) {
      throw new AssertionError(thread + " was not granted " + path);
    }
  }

  /** Asks for a lock; completes with whether it was granted in time. */
  CompletableFuture<Boolean> tryAcquire(Recipe recipe, String path, Duration wait) {
    return peer.tell(thread, "acquire " + recipe + " " + path + " " + wait.toMillis())
        .thenApply(Boolean::parseBoolean);
  }

  /** Asks for a lock without a limit; completes when it is granted. */
  CompletableFuture<Boolean> startAcquire(Recipe recipe, String path) {
    return peer.tell(thread, "acquire " + recipe + " " + path + " -1")
        .thenApply(Boolean::parseBoolean);
  }

  /** Releases one level of a lock. */
  void release(Recipe recipe, String path) {
    ask("release " + recipe + " " + path);
  }

  /** Returns the nodes that the recipe sees, in its order. */
  List<String> participants(Recipe recipe, String path) {
    String nodes = ask("participants " + recipe + " " + path);
    return nodes.isEmpty() ? List.of() : List.of(nodes.split(" ", -1));
  }

  /** Makes what is acquired next revocable. */
  void makeRevocable(Recipe recipe, String path) {
    ask("revocable " + recipe + " " + path);
  }

  /** Asks the holder of a node to give way, as Curator does. */
  void revoke(String node) {
    ask("revoke " + node);
  }

  /** Returns what a node says. */
  String data(String node) {
    return ask("data " + node);
  }

  /** Starts to work under a lock so often; completes when all is done. */
  CompletableFuture<String> startWork(Recipe recipe, String path, int rounds, Path directory) {
    return peer.tell(thread, "work " + recipe + " " + path + " " + rounds + " " + directory);
  }

  private String ask(String command) {
    return CuratorProcess.join(peer.tell(thread, command), "answer to " + command);
  }
}
