package io.lockkeeper.integration.curator;

import io.lockkeeper.integration.harness.Jar;
import io.lockkeeper.integration.harness.Scratch;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;

/** A {@link CuratorPeer} in a JVM of its own. */
final class CuratorProcess implements AutoCloseable {

  private static final long PATIENCE_SECONDS = 60;

  private final Process process;
  private final Path errors;
  private final PrintStream commands;
  private final AtomicLong number = new AtomicLong();
  private final Map<Long, CompletableFuture<String>> pending = new ConcurrentHashMap<>();
  private final LinkedBlockingQueue<String> revocations = new LinkedBlockingQueue<>();
  private final CompletableFuture<Void> ready = new CompletableFuture<>();

  private CuratorProcess(Process process, Path errors) {
    this.process = process;
    this.errors = errors;
    commands = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
  }

  /**
   * Starts a peer whose nodes contain {@code name}, and waits until it is connected.
   *
   * @param timeoutSeconds when ZooKeeper ends its session after it has died
   */
  static CuratorProcess start(String zookeeper, String name, int timeoutSeconds) {
    Path errors = Scratch.directory("curator-" + name).resolve("stderr");
    List<String> line =
        Jar.ofTests(CuratorPeer.class, zookeeper, Integer.toString(timeoutSeconds * 1_000), name);
    try {
      CuratorProcess peer =
          new CuratorProcess(
              new ProcessBuilder(line).redirectError(errors.toFile()).start(), errors);
      Thread reader = new Thread(peer::readAll, "curator-" + name);
      reader.setDaemon(true);
      reader.start();
      join(peer.ready, "connection of " + name);
      return peer;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns a thread of the peer. The same name is the same thread. */
  Hand hand(String thread) {
    return new Hand(this, thread);
  }

  /** Waits until a revocation listener of the peer has heard, and returns the path of its lock. */
  String awaitRevocation() {
    try {
      String path = revocations.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
      if (path == null) {
        throw new AssertionError("no revocation was heard; see " + errors);
      }
      return path;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Kills the peer with SIGKILL, and returns when it is dead. Its session is left to expire. */
  void kill() {
    process.destroyForcibly();
    Awaitility.await("end of the peer").until(() -> !process.isAlive());
  }

  @Override
  public void close() {
    kill();
  }

  CompletableFuture<String> tell(String thread, String command) {
    long call = number.incrementAndGet();
    CompletableFuture<String> answer = new CompletableFuture<>();
    pending.put(call, answer);
    synchronized (commands) {
      commands.println(call + " " + thread + " " + command);
    }
    return answer;
  }

  static <T> T join(CompletableFuture<T> future, String what) {
    return future
        .orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS)
        .exceptionally(
            e -> {
              throw new AssertionError("no " + what, e);
            })
        .join();
  }

  private void readAll() {
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        hear(line);
      }
      failAll("the peer has ended; see " + errors);
    } catch (IOException e) {
      failAll(e.toString());
    }
  }

  private void hear(String line) {
    String[] words = line.split(" ", 3);
    if (words[0].equals("ready")) {
      ready.complete(null);
    } else if (words[0].equals("revocation")) {
      revocations.add(words[1]);
    } else {
      CompletableFuture<String> answer = pending.remove(Long.parseLong(words[0]));
      if (words[1].equals("ok")) {
        answer.complete(words[2]);
      } else {
        answer.completeExceptionally(new IllegalStateException(words[2]));
      }
    }
  }

  private void failAll(String why) {
    ready.completeExceptionally(new IllegalStateException(why));
    pending.values().forEach(p -> p.completeExceptionally(new IllegalStateException(why)));
  }
}
