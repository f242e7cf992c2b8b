package io.lockkeeper.integration.chaos;

import io.lockkeeper.integration.chaos.Fault.Victim;
import io.lockkeeper.integration.harness.ByteProxy;
import io.lockkeeper.integration.harness.Descriptors;
import java.util.ArrayList;
import java.util.List;

/** What happens to the ensemble. */
final class ZooKeeperFaults {

  private static final long STUTTER_MILLIS = 400;

  /** The timeout of lock sessions. */
  private static final long SESSION_MILLIS = 30_000;

  static final List<Fault> ALL =
      List.of(
          of("ensemble-leader-kill", Victim.LEADER, 1, 0, 8_000, ZooKeeperFaults::kill),
          of("ensemble-follower-kill", Victim.FOLLOWER, 1, 0, 8_000, ZooKeeperFaults::kill),
          of("ensemble-quorum-kill", Victim.ENSEMBLE, 2, 1_000, 12_000, ZooKeeperFaults::kill),
          of("ensemble-leader-pause", Victim.LEADER, 1, 1_000, 14_000, ZooKeeperFaults::pause),
          of("ensemble-follower-pause", Victim.FOLLOWER, 1, 1_000, 18_000, ZooKeeperFaults::pause),
          of("ensemble-quorum-pause", Victim.ENSEMBLE, 2, 2_000, 20_000, ZooKeeperFaults::pause),
          of(
              "ensemble-leader-pause-long",
              Victim.LEADER,
              1,
              SESSION_MILLIS + 2_000,
              SESSION_MILLIS + 15_000,
              ZooKeeperFaults::pause),
          of(
              "ensemble-follower-pause-long",
              Victim.FOLLOWER,
              1,
              SESSION_MILLIS + 2_000,
              SESSION_MILLIS + 15_000,
              ZooKeeperFaults::pause),
          of("ensemble-descriptors", Victim.ENSEMBLE, 1, 2_000, 15_000, ZooKeeperFaults::exhaust),
          of("ensemble-leader-cut-off", Victim.LEADER, 1, 3_000, 20_000, ZooKeeperFaults::isolate),
          of(
              "ensemble-follower-cut-off",
              Victim.FOLLOWER,
              1,
              3_000,
              20_000,
              ZooKeeperFaults::isolate),
          of("ensemble-leader-slow", Victim.LEADER, 1, 3_000, 10_000, ZooKeeperFaults::stutter),
          of(
              "ensemble-follower-slow",
              Victim.FOLLOWER,
              1,
              3_000,
              10_000,
              ZooKeeperFaults::stutter));

  private ZooKeeperFaults() {}

  private static Fault of(
      String kind, Victim victim, int count, long min, long max, Fault.Action action) {
    return new Fault(kind, victim, count, min, max, action);
  }

  private static void kill(Stage stage) throws InterruptedException {
    stage.zookeepers().forEach(ZooKeeperNode::kill);
    try {
      stage.last();
    } finally {
      stage.zookeepers().forEach(ZooKeeperNode::restart);
    }
  }

  private static void pause(Stage stage) throws InterruptedException {
    stage.zookeepers().forEach(ZooKeeperNode::pause);
    try {
      stage.last();
    } finally {
      stage.zookeepers().forEach(ZooKeeperNode::resume);
    }
  }

  /** Servers have no file descriptor left, and some lose connections that they cannot replace. */
  private static void exhaust(Stage stage) throws InterruptedException {
    List<ByteProxy> links = new ArrayList<>();
    for (ZooKeeperNode server : stage.zookeepers()) {
      links.addAll(stage.network().between("", server.name()));
    }
    try {
      stage.exhaust(
          links,
          stage.zookeepers().stream()
              .map(server -> Descriptors.exhaust(server.pid(), server.clientPort()))
              .toList());
    } finally {
      stage.zookeepers().stream()
          .filter(server -> !server.isAlive())
          .forEach(ZooKeeperNode::restart);
    }
  }

  /** Cuts servers off from their peers; coordinators still reach them. */
  private static void isolate(Stage stage) throws InterruptedException {
    List<ByteProxy> links = new ArrayList<>();
    for (ZooKeeperNode server : stage.zookeepers()) {
      links.addAll(stage.network().between(server.name(), "zk-"));
      links.addAll(stage.network().between("zk-", server.name()));
    }
    stage.blackhole(links);
  }

  /** Stops and continues again and again: what a disk with slow syncs looks like from outside. */
  private static void stutter(Stage stage) throws InterruptedException {
    long rounds = stage.millis() / STUTTER_MILLIS;
    try {
      for (long i = 0; i < rounds; i++) {
        stage.zookeepers().forEach(ZooKeeperNode::pause);
        boolean over = stage.pause(stage.random().nextLong(STUTTER_MILLIS));
        stage.zookeepers().forEach(ZooKeeperNode::resume);
        if (over || stage.pause(stage.random().nextLong(STUTTER_MILLIS / 4))) {
          return;
        }
      }
    } finally {
      stage.zookeepers().forEach(ZooKeeperNode::resume);
    }
  }
}
