package io.lockkeeper.integration.chaos;

import io.lockkeeper.integration.chaos.Fault.Victim;
import io.lockkeeper.integration.harness.ByteProxy;
import io.lockkeeper.integration.harness.Descriptors;
import java.util.ArrayList;
import java.util.List;

/** What happens to coordinators. */
final class CoordinatorFaults {

  /** A drain that takes longer is one that hangs. */
  private static final long DRAIN_SECONDS = 45;

  private static final long RESTART_MILLIS = 6_000;

  static final List<Fault> ALL =
      List.of(
          of("coordinator-kill", 1, 0, 12_000, CoordinatorFaults::kill),
          of("coordinator-kill-two", 2, 0, 10_000, CoordinatorFaults::kill),
          of("coordinator-term", 1, 0, 3_000, CoordinatorFaults::terminate),
          of("coordinator-rolling-restart", 3, 0, 1_000, CoordinatorFaults::roll),
          of("coordinator-pause-short", 1, 1_000, 8_000, CoordinatorFaults::pause),
          of("coordinator-pause-long", 1, 8_000, 40_000, CoordinatorFaults::pause),
          of("coordinator-descriptors", 1, 2_000, 15_000, CoordinatorFaults::exhaust),
          of("coordinator-cut-off-from-zookeeper", 1, 2_000, 35_000, at("zk-")),
          of("coordinator-cut-off-from-peers", 1, 2_000, 15_000, CoordinatorFaults::lonely),
          of("coordinator-cut-off-from-clients", 1, 2_000, 20_000, CoordinatorFaults::unheard),
          of("zookeeper-connections-cut", 2, 1_000, 8_000, CoordinatorFaults::cutWrites),
          of("zookeeper-connections-slow", 2, 3_000, 10_000, CoordinatorFaults::slowWrites));

  private CoordinatorFaults() {}

  private static Fault of(String kind, int count, long min, long max, Fault.Action action) {
    return new Fault(kind, Victim.COORDINATOR, count, min, max, action);
  }

  private static void kill(Stage stage) throws InterruptedException {
    stage.coordinators().forEach(CoordinatorNode::kill);
    stage.coordinators().forEach(c -> to(stage, c).forEach(ByteProxy::refuse));
    try {
      stage.last();
    } finally {
      stage.coordinators().forEach(c -> revive(stage, c));
    }
  }

  private static void revive(Stage stage, CoordinatorNode coordinator) {
    coordinator.restart();
    to(stage, coordinator).forEach(ByteProxy::admit);
  }

  private static void terminate(Stage stage) throws InterruptedException {
    for (CoordinatorNode coordinator : stage.coordinators()) {
      if (!coordinator.terminate(DRAIN_SECONDS)) {
        stage.history().line("stuck").with("what", "drain of " + coordinator.name()).write();
      }
      to(stage, coordinator).forEach(ByteProxy::refuse);
      try {
        stage.last();
      } finally {
        revive(stage, coordinator);
      }
    }
  }

  private static void roll(Stage stage) throws InterruptedException {
    for (CoordinatorNode coordinator : stage.coordinators()) {
      Stage one =
          new Stage(
              List.of(coordinator),
              List.of(),
              List.of(),
              stage.network(),
              stage.millis(),
              stage.random(),
              stage.over(),
              stage.history());
      terminate(one);
      if (stage.pause(RESTART_MILLIS)) {
        return;
      }
    }
  }

  private static void pause(Stage stage) throws InterruptedException {
    stage.coordinators().forEach(CoordinatorNode::pause);
    try {
      stage.last();
    } finally {
      stage.coordinators().forEach(CoordinatorNode::resume);
    }
  }

  /** Coordinators have no file descriptor left, and some lose their connections to ZooKeeper. */
  private static void exhaust(Stage stage) throws InterruptedException {
    try {
      stage.exhaust(
          from(stage, "zk-"),
          stage.coordinators().stream().map(c -> Descriptors.exhaust(c.pid(), c.port())).toList());
    } finally {
      stage.coordinators().stream().filter(c -> !c.isAlive()).forEach(CoordinatorNode::restart);
    }
  }

  private static Fault.Action at(String whom) {
    return stage -> stage.blackhole(from(stage, whom));
  }

  private static void lonely(Stage stage) throws InterruptedException {
    List<ByteProxy> links = new ArrayList<>(from(stage, "co-"));
    for (CoordinatorNode coordinator : stage.coordinators()) {
      links.addAll(stage.network().between("co-", coordinator.name()));
    }
    stage.blackhole(links);
  }

  private static void unheard(Stage stage) throws InterruptedException {
    List<ByteProxy> links = new ArrayList<>();
    for (CoordinatorNode coordinator : stage.coordinators()) {
      links.addAll(stage.network().between("cl-", coordinator.name()));
    }
    stage.blackhole(links);
  }

  private static void cutWrites(Stage stage) throws InterruptedException {
    stage.cutAgainAndAgain(from(stage, "zk-"));
  }

  private static void slowWrites(Stage stage) throws InterruptedException {
    stage.throttle(from(stage, "zk-"));
  }

  private static List<ByteProxy> from(Stage stage, String whom) {
    return stage.coordinators().stream()
        .flatMap(c -> stage.network().between(c.name(), whom).stream())
        .toList();
  }

  private static List<ByteProxy> to(Stage stage, CoordinatorNode coordinator) {
    return stage.network().between("", coordinator.name());
  }
}
