package io.lockkeeper.conformance;

import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.lockkeeper.conformance.ServedStream.Received;
import io.lockkeeper.conformance.Stage.Held;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.stream.Stream;

/** How often a client asks servers that refuse. */
final class BackoffScenarios {

  private static final String DELAY =
      "resume it, with a delay that grows with each attempt and has jitter.";

  /**
   * From this delay on, in milliseconds, delays of several clients are compared. What a busy
   * machine adds to a delay does not depend on it: of a long one it is a small part.
   */
  private static final long LONG_MILLIS = 700;

  private static final int CLIENTS = 4;

  /** How long a server wants to be left alone. */
  private static final long DELAY_MILLIS = 1_500;

  private BackoffScenarios() {}

  @Sentence(DELAY)
  static void attemptsToOpenGrowRarer(Stage stage) {
    ScriptedServer server = stage.server();
    stage.client(server);
    stage.acquire("a");
    mustGrow(delays(server, 7));
  }

  @Sentence(DELAY)
  static void attemptsToResumeGrowRarer(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().fail(Code.UNAVAILABLE, "as the script says");
    mustGrow(delays(held.server(), 7));
  }

  @Sentence(DELAY)
  static void delaysOfSeveralClientsDiffer(Stage stage) {
    List<List<Long>> delays = delaysOfSeveral(stage, 9);
    boolean compared = false;
    boolean differ = false;
    for (int attempt = 0; attempt < delays.get(0).size(); attempt++) {
      int which = attempt;
      List<Long> each = delays.stream().map(client -> client.get(which)).sorted().toList();
      if (each.get(CLIENTS - 1) >= LONG_MILLIS) {
        compared = true;
        differ |= areSpread(each);
      }
    }
    Unmet.unless(compared, "the delays do not grow to " + LONG_MILLIS + " ms: " + delays);
    Unmet.unless(differ, "no jitter: of " + CLIENTS + " clients, each waited " + delays + " ms");
  }

  /**
   * Whether the delays, in ascending order, differ by a tenth at least. The longest does not count:
   * one process may be late by itself, two hardly are in each attempt. Without jitter, no delay of
   * a second and more comes to that. With delays from a half to the whole, three of four are as
   * close as that once in eleven times, so in all three of the longest attempts less than once in
   * 1,000 times; and what fails is played once more.
   */
  private static boolean areSpread(List<Long> ascending) {
    long shortest = ascending.get(0);
    return ascending.get(CLIENTS - 2) - shortest >= Math.max(100, shortest / 10);
  }

  private static List<List<Long>> delaysOfSeveral(Stage stage, int attempts) {
    List<CompletableFuture<List<Long>>> clients =
        Stream.generate(stage::another)
            .limit(CLIENTS)
            .map(own -> CompletableFuture.supplyAsync(() -> delaysOfOne(own, attempts), start()))
            .toList();
    try {
      return clients.stream().map(CompletableFuture::join).toList();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }

  /** Each client is waited for by a thread of its own, however few processors there are. */
  private static Executor start() {
    return task -> new Thread(task, "conformance-backoff").start();
  }

  private static List<Long> delaysOfOne(Stage own, int attempts) {
    try (own) {
      ScriptedServer server = own.server();
      own.client(server);
      own.acquire("a");
      return delays(server, attempts);
    }
  }

  @Sentence(
      "An error other than those below says nothing about the lease: resume it, with a delay that grows with each attempt and has jitter.")
  static void serverThatComesBackIsFound(Stage stage) {
    ScriptedServer server = stage.server();
    stage.client(server);
    stage.acquire("a");
    delays(server, 3);
    ServedStream stream = server.stream().answersKeepAlives(Terms.CALM);
    stream.opened(stream.awaitOpen(), Terms.CALM);
    stream.granted(stream.awaitAcquire("a"), 7);
    stage.expectGranted("a", 7);
  }

  @Sentence("A RetryInfo tells how long to avoid this server.")
  static void serverThatNamesADelayIsLeftAloneForIt(Stage stage) {
    Held held = stage.held(Terms.CALM);
    ServedStream next = comesBack(held, held.stream(), Code.UNAVAILABLE, "NO_ZOOKEEPER");
    next.resumed(next.awaitResume(held.open()), Terms.CALM);
    next.awaitAcquire("a");
    next = comesBack(held, next, Code.RESOURCE_EXHAUSTED, "SLOW_CONSUMER");
    next.answersKeepAlives(Terms.CALM).resumed(next.awaitResume(held.open()), Terms.CALM);
    next.granted(next.awaitAcquire("a"), 7);
    stage.settle();
    stage.mustHold("a");
  }

  @Sentence("A RetryInfo tells how long to avoid this server.")
  static void delayCountsForAnOpenThatIsRefusedToo(Stage stage) {
    ScriptedServer server = stage.server();
    stage.client(server);
    stage.acquire("a");
    ServedStream first = server.stream();
    first.awaitOpen();
    StatusRuntimeException refusal = Statuses.of(Code.UNAVAILABLE, "DRAINING", DELAY_MILLIS);
    ServedStream next = afterTheDelay(server, first, refusal).answersKeepAlives(Terms.CALM);
    next.opened(next.awaitOpen(), Terms.CALM);
    next.granted(next.awaitAcquire("a"), 7);
    stage.expectGranted("a", 7);
  }

  private static ServedStream comesBack(Held held, ServedStream stream, Code code, String reason) {
    return afterTheDelay(held.server(), stream, Statuses.of(code, reason, DELAY_MILLIS));
  }

  /** Ends a stream like this; returns the next one at the server, the only one there is. */
  private static ServedStream afterTheDelay(
      ScriptedServer server, ServedStream stream, StatusRuntimeException how) {
    long toldNanos = System.nanoTime();
    stream.fail(how);
    ServedStream next = server.stream();
    long afterMillis = (System.nanoTime() - toldNanos) / 1_000_000;
    Unmet.unless(
        afterMillis >= DELAY_MILLIS - 100,
        "told to wait " + DELAY_MILLIS + " ms, it came back after " + afterMillis + " ms");
    return next;
  }

  /** Refuses so many attempts; returns the times between them, in milliseconds. */
  private static List<Long> delays(ScriptedServer server, int attempts) {
    List<Long> delays = new ArrayList<>();
    long lastNanos = 0;
    for (int i = 0; i < attempts; i++) {
      ServedStream stream = server.stream();
      Received open = stream.awaitOpen();
      if (i > 0) {
        delays.add((open.atNanos() - lastNanos) / 1_000_000);
      }
      lastNanos = System.nanoTime();
      stream.fail(Code.UNAVAILABLE, "as the script says");
    }
    return delays;
  }

  /** Each delay has what a connection takes in it: so the sums of two are compared. */
  private static void mustGrow(List<Long> delays) {
    int last = delays.size() - 1;
    long early = delays.get(0) + delays.get(1);
    long late = delays.get(last - 1) + delays.get(last);
    Unmet.unless(
        late >= 600 && late > 2 * early,
        "refused each time, it came back after " + delays + " ms: no delay that grows");
  }
}
