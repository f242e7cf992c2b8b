package io.lockkeeper.integration.clients;

import io.lockkeeper.conformance.ClientProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A client in its own process, which asks for locks, holds them and says what it believes. */
final class DrivenClient implements AutoCloseable {

  /** Longer than anything takes that a fault delays. */
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  private final Language language;
  private final ClientProcess process;

  private DrivenClient(Language language, ClientProcess process) {
    this.language = language;
    this.process = process;
  }

  /** Starts a client that begins with the first of these servers. */
  static DrivenClient start(Language language, List<String> servers, Duration ttl) {
    try {
      ClientProcess process = ClientProcess.start(language.driver(), PATIENCE);
      process.send("open", Map.of("servers", servers, "ttl_ms", ttl.toMillis()));
      return new DrivenClient(language, process);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Language language() {
    return language;
  }

  /** Asks for an exclusive lock. */
  void ask(String id, String lock) {
    process.send("acquire", Map.of("id", id, "locks", List.of(lock)));
  }

  /** Asks for an exclusive lock and waits until it is held; returns its token. */
  long take(String id, String lock) {
    ask(id, lock);
    return awaitToken(id);
  }

  /** Waits until the request is granted; returns the token. */
  long awaitToken(String id) {
    ClientProcess.Report report = process.await(id, "granted", "not_acquired", "lost");
    if (!report.is().equals("granted")) {
      throw new AssertionError(id + " is not granted: " + report.line() + said());
    }
    return Long.parseLong(report.line().path("tokens").path(0).asString(""));
  }

  /** Releases, or withdraws, and waits until that is certain. */
  void release(String id) {
    process.send("release", Map.of("id", id));
    ClientProcess.Report report = process.await(id, "released", "not_acquired", "lost");
    if (report.is().equals("lost")) {
      throw new AssertionError(id + " was lost: " + report.line() + said());
    }
  }

  /** Returns whether the client believes that it holds. */
  boolean believes(String id) {
    return process.believes(id);
  }

  /** Waits until the client has told that a lock is lost. */
  void awaitLost(String id) {
    ClientProcess.Report unused = process.await(id, "lost");
  }

  /** Returns whether the client has told that a lock is lost. */
  boolean hasLost(String id) {
    return process.hasReported("lost", id);
  }

  /** Returns the process itself, to be stopped and killed. */
  ClientProcess process() {
    return process;
  }

  /** Returns what was said between the test and the client. */
  String said() {
    return "\n" + language + ":\n  " + String.join("\n  ", process.transcript());
  }

  @Override
  public void close() {
    process.close();
  }
}
