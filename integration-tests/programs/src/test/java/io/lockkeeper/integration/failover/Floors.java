package io.lockkeeper.integration.failover;

import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.awaitility.Awaitility;

/**
 * Measures what failover costs, with the settings of production: locks lost, two holders at once,
 * and how long clients have to do without. Prints a table, and fails if a figure misses its floor.
 */
public final class Floors {

  private static final Plan THREE = new Plan(Pace.PRODUCTION, 3, 3, true, false);
  private static final Plan LONE = new Plan(Pace.PRODUCTION, 3, 1, true, false);
  private static final Duration TTL = Duration.ofSeconds(15);
  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final Duration SETTLING = Duration.ofSeconds(8);
  private static final int CLIENTS = 48;

  private final FloorTable table = new FloorTable();
  private final int kills;

  private Floors(int kills) {
    this.kills = kills;
  }

  /** Arguments: how often to kill one of three; 5 without. */
  public static void main(String[] arguments) {
    Floors floors = new Floors(arguments.length > 0 ? Integer.parseInt(arguments[0]) : 5);
    floors.measureThree();
    floors.measureLone();
    System.out.println(floors.table);
    System.exit(floors.table.isMissed() ? 1 : 0);
  }

  private void measureThree() {
    try (Cluster cluster = Cluster.start(THREE);
        Load load = Load.start(cluster.addresses(), CLIENTS, TTL, "floors")) {
      say("three coordinators, %d clients; %d grants to begin with", CLIENTS, load.grants());
      measure("kill -9 of one of three, " + kills + " times", load, () -> kill(cluster, load));
      measure("rolling restart of all three", load, () -> roll(cluster, load));
      measure("ZooKeeper's leader killed", load, () -> killLeader(cluster, load));
    }
  }

  private void measureLone() {
    try (Cluster cluster = Cluster.start(LONE);
        Load load = Load.start(cluster.addresses(), CLIENTS, TTL, "floors")) {
      measure("restart of a lone coordinator after kill -9", load, () -> restart(cluster, load));
      measure(
          "restart of a lone coordinator after SIGTERM",
          load,
          () -> {
            final long toldNanos = System.nanoTime();
            cluster.seat(0).terminate();
            comeBack(cluster.seat(0), load, toldNanos);
          });
    }
  }

  /** Runs something under load, and adds what every row has: what was lost, and who was doubled. */
  private void measure(String what, Load load, Runnable fault) {
    table.begin(what);
    pass(SETTLING);
    int lostBefore = load.losses().size();
    int doubledBefore = load.violations().size();
    final long grantsBefore = load.grants();
    final long startNanos = System.nanoTime();
    fault.run();
    pass(SETTLING);
    List<String> lost = load.losses().subList(lostBefore, load.losses().size());
    List<String> doubled = load.violations().subList(doubledBefore, load.violations().size());
    lost.forEach(System.out::println);
    doubled.forEach(System.out::println);
    table.exactly("locks lost", lost.size(), 0);
    table.exactly("granted to two at once", doubled.size(), 0);
    long seconds = Math.max(1, Duration.ofNanos(System.nanoTime() - startNanos).toSeconds());
    table.note("grants a second meanwhile", (load.grants() - grantsBefore) / seconds);
  }

  private void kill(Cluster cluster, Load load) {
    List<Duration> recoveries = new ArrayList<>();
    Duration longest = Duration.ZERO;
    for (int i = 0; i < kills; i++) {
      Seat seat = busiest(cluster, load);
      List<Inhabitant> affected = load.clientsAt(seat.address());
      final long killedNanos = System.nanoTime();
      seat.kill();
      final long deadNanos = System.nanoTime();
      load.awaitMarks(affected.stream().filter(Inhabitant::keeps).toList(), killedNanos, PATIENCE);
      load.awaitMarks(load.turners(), deadNanos, PATIENCE);
      List<Duration> these =
          affected.stream()
              .map(client -> recovery(client, killedNanos, deadNanos))
              .sorted()
              .toList();
      say(
          "killed the coordinator of %d clients: again after %s to %s",
          affected.size(), text(these.get(0)), text(these.get(these.size() - 1)));
      recoveries.addAll(these);
      longest = max(longest, load.longestPauseSince(killedNanos));
      seat.start();
      pass(SETTLING);
    }
    recoveries.sort(null);
    table.note("clients of the coordinators killed", recoveries.size());
    table.below("holding again: median", recoveries.get(recoveries.size() / 2), seconds(4));
    table.below("holding again: longest", recoveries.get(recoveries.size() - 1), seconds(8));
    table.note("longest pause of any client", text(longest));
  }

  private static Seat busiest(Cluster cluster, Load load) {
    return cluster.seats().stream()
        .max(Comparator.comparingInt(seat -> load.clientsAt(seat.address()).size()))
        .orElseThrow();
  }

  /** What a dead coordinator has sent may still arrive: a release of one who takes turns. */
  private static Duration recovery(Inhabitant client, long killedNanos, long deadNanos) {
    return client.keeps()
        ? Load.recovery(client, killedNanos)
        : Load.recovery(client, deadNanos).plusNanos(deadNanos - killedNanos);
  }

  private void roll(Cluster cluster, Load load) {
    final long startNanos = System.nanoTime();
    Duration longestStop = Duration.ZERO;
    for (Seat seat : cluster.seats()) {
      int affected = load.clientsAt(seat.address()).size();
      final long toldNanos = System.nanoTime();
      seat.terminate();
      Duration stop = Duration.ofNanos(System.nanoTime() - toldNanos);
      seat.start();
      pass(SETTLING);
      say(
          "restarted the coordinator of %d clients: it stopped in %s; longest pause %s",
          affected, text(stop), text(load.longestPauseSince(toldNanos)));
      longestStop = max(longestStop, stop);
    }
    load.awaitMarks(load.turners(), System.nanoTime(), PATIENCE);
    table.below("longest pause of any client", load.longestPauseSince(startNanos), seconds(3));
    table.note("longest time to stop", text(longestStop));
  }

  private void killLeader(Cluster cluster, Load load) {
    ZooKeeperProcess old = cluster.ensemble().leader();
    final long killedNanos = System.nanoTime();
    old.kill();
    cluster.ensemble().leader();
    final long ledNanos = System.nanoTime();
    load.awaitMarks(load.turners(), ledNanos, PATIENCE);
    final Duration election = Duration.ofNanos(ledNanos - killedNanos);
    Duration first = Duration.ofNanos(load.firstGrantSince(ledNanos) - ledNanos);
    Duration last =
        load.turners().stream()
            .map(client -> Load.recovery(client, ledNanos))
            .max(Duration::compareTo)
            .orElseThrow();
    old.start();
    table.note("a new leader after", text(election));
    table.below("grants again after the new leader", first, seconds(5));
    table.note("every client goes on after the new leader", text(last));
    table.note("longest pause of any client", text(load.longestPauseSince(killedNanos)));
  }

  private void restart(Cluster cluster, Load load) {
    final long killedNanos = System.nanoTime();
    cluster.seat(0).kill();
    comeBack(cluster.seat(0), load, killedNanos);
  }

  private void comeBack(Seat seat, Load load, long sinceNanos) {
    seat.start();
    final long servingNanos = System.nanoTime();
    load.awaitMarks(load.clients(), sinceNanos, PATIENCE);
    load.awaitMarks(load.turners(), servingNanos, PATIENCE);
    table.note("serving again after", text(Duration.ofNanos(servingNanos - sinceNanos)));
    table.note("longest pause of any client", text(load.longestPauseSince(sinceNanos)));
  }

  private static Duration seconds(int count) {
    return Duration.ofSeconds(count);
  }

  private static Duration max(Duration one, Duration other) {
    return one.compareTo(other) >= 0 ? one : other;
  }

  /** Returns a duration in seconds, human-readable. */
  static String text(Duration duration) {
    return String.format(Locale.ROOT, "%.2f s", duration.toMillis() / 1e3);
  }

  private static void pass(Duration time) {
    Awaitility.await().pollDelay(time).atMost(time.multipliedBy(2)).until(() -> true);
  }

  private static void say(String format, Object... values) {
    System.out.printf(Locale.ROOT, format + "%n", values);
  }
}
