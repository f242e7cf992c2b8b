package io.lockkeeper.integration.chaos;

import io.lockkeeper.integration.chaos.Fault.Victim;
import io.lockkeeper.integration.harness.ByteProxy;
import java.util.List;

/** What happens to processes of clients. */
final class ClientFaults {

  static final List<Fault> ALL =
      List.of(
          of("clients-freeze-short", 500, 12_000, ClientFaults::freeze),
          of("clients-freeze-past-ttl", 16_000, 35_000, ClientFaults::freeze),
          of("clients-kill", 0, 3_000, ClientFaults::kill),
          of("clients-connections-cut", 500, 6_000, ClientFaults::cut),
          of("clients-half-open", 2_000, 25_000, ClientFaults::blackhole),
          of("clients-slow", 2_000, 8_000, ClientFaults::slow));

  private ClientFaults() {}

  private static Fault of(String kind, long min, long max, Fault.Action action) {
    return new Fault(kind, Victim.CLIENTS, 1, min, max, action);
  }

  private static void freeze(Stage stage) throws InterruptedException {
    stage.clients().forEach(ClientNode::freeze);
    try {
      stage.last();
    } finally {
      stage.clients().forEach(ClientNode::thaw);
    }
  }

  private static void kill(Stage stage) throws InterruptedException {
    stage.clients().forEach(ClientNode::kill);
    try {
      stage.last();
    } finally {
      stage.clients().forEach(ClientNode::replace);
    }
  }

  private static void cut(Stage stage) throws InterruptedException {
    stage.cutAgainAndAgain(links(stage));
  }

  private static void blackhole(Stage stage) throws InterruptedException {
    stage.blackhole(links(stage));
  }

  private static void slow(Stage stage) throws InterruptedException {
    stage.throttle(links(stage));
  }

  private static List<ByteProxy> links(Stage stage) {
    return stage.clients().stream()
        .flatMap(c -> stage.network().between(c.name(), "co-").stream())
        .toList();
  }
}
