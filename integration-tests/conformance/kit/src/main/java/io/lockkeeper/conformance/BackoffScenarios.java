package io.lockkeeper.conformance;

import io.grpc.Status.Code;
import io.lockkeeper.conformance.ServedStream.Received;
import io.lockkeeper.conformance.Stage.Held;
import java.util.ArrayList;
import java.util.List;

/** How often a client asks servers that refuse. */
final class BackoffScenarios {

  private static final String DELAY =
      "resume it, here or elsewhere, after a delay that grows with each attempt and has jitter.";

  private BackoffScenarios() {}

  @Sentence(DELAY)
  static void attemptsToOpenGrowRarer(Stage stage) {
    ScriptedServer server = stage.server();
    stage.client(server);
    stage.acquire("a");
    mustGrow(gaps(server, 6));
  }

  @Sentence(DELAY)
  static void attemptsToResumeGrowRarer(Stage stage) {
    Held held = stage.held(Terms.CALM);
    held.stream().fail(Code.UNAVAILABLE, "as the script says");
    mustGrow(gaps(held.server(), 6));
  }

  @Sentence(DELAY)
  static void delaysOfTwoClientsDiffer(Stage stage) {
    ScriptedServer server = stage.server();
    stage.client(server);
    stage.acquire("a");
    List<Long> first = gaps(server, 6);
    List<Long> second;
    try (Stage own = stage.another()) {
      ScriptedServer another = own.server();
      own.client(another);
      own.acquire("a");
      second = gaps(another, 6);
    }
    boolean differ = false;
    for (int i = 0; i < first.size(); i++) {
      double ratio = (double) first.get(i) / Math.max(1, second.get(i));
      differ |= ratio < 0.93 || ratio > 1.07;
    }
    Unmet.unless(differ, "both waited " + first + " and " + second + " ms: no jitter");
  }

  @Sentence("after a delay that grows with each attempt and has jitter.")
  static void serverThatComesBackIsFound(Stage stage) {
    ScriptedServer server = stage.server();
    stage.client(server);
    stage.acquire("a");
    gaps(server, 3);
    ServedStream stream = server.stream().answersKeepAlives(Terms.CALM);
    stream.opened(stream.awaitOpen(), Terms.CALM);
    stream.granted(stream.awaitAcquire("a"), 7);
    stage.expectGranted("a", 7);
  }

  /** Refuses so many attempts; returns the times between them, in milliseconds. */
  private static List<Long> gaps(ScriptedServer server, int attempts) {
    List<Long> gaps = new ArrayList<>();
    long lastNanos = 0;
    for (int i = 0; i < attempts; i++) {
      ServedStream stream = server.stream();
      Received open = stream.awaitOpen();
      if (i > 0) {
        gaps.add((open.atNanos() - lastNanos) / 1_000_000);
      }
      lastNanos = System.nanoTime();
      stream.fail(Code.UNAVAILABLE, "as the script says");
    }
    return gaps;
  }

  private static void mustGrow(List<Long> gaps) {
    long late = gaps.get(3) + gaps.get(4);
    Unmet.unless(
        late >= 200, "refused each time, it came back after " + gaps + " ms: no delay that grows");
  }
}
