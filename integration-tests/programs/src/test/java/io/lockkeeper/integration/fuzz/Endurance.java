package io.lockkeeper.integration.fuzz;

import io.lockkeeper.integration.attack.Attack;
import io.lockkeeper.integration.attack.Floods;
import io.lockkeeper.integration.fuzz.Callers.Caller;
import io.lockkeeper.integration.harness.Footprint;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.function.ToLongFunction;
import org.awaitility.Awaitility;

/**
 * The same two coordinators under attack for many minutes: each minute they are fuzzed, flooded in
 * one of the ways that there are, and measured when nothing of it should be left.
 */
final class Endurance {

  private static final long ATTACK_SECONDS = 40;
  private static final Duration CLEARANCE = Duration.ofSeconds(60);
  private static final int FEW_CONNECTIONS = 12;

  /** What the least of the last third may be above the least of the third before. */
  private static final Footprint MOST_GROWTH = new Footprint(16L << 20, 48L << 20, 8, 16);

  private static final long MOST_ZNODES_MORE = 200;

  private final FuzzedCluster cluster;
  private final List<Measured> all = new ArrayList<>();
  private final List<String> findings = new ArrayList<>();

  /** One minute's end. */
  private record Measured(List<Footprint> coordinators, long znodes) {}

  private Endurance(FuzzedCluster cluster) {
    this.cluster = cluster;
  }

  /** Returns what was found in so many minutes; nothing if all is well. */
  static List<String> of(FuzzedCluster cluster, long minutes, Random seeds) {
    Endurance endurance = new Endurance(cluster);
    List<Floods.Flood> floods =
        Floods.all(
            Words.TENANT + "/",
            cluster.callers().context(Caller.ATTACKER),
            cluster.callers().context(Caller.STRANGER));
    for (int minute = 0; minute < minutes && endurance.findings.isEmpty(); minute++) {
      endurance.minute(minute, floods.get(minute % floods.size()), seeds.nextLong());
    }
    if (endurance.findings.isEmpty()) {
      endurance.checkGrowth();
    }
    return endurance.findings;
  }

  private void minute(int minute, Floods.Flood flood, long seed) {
    BooleanSupplier inTime = FuzzRun.forSeconds(ATTACK_SECONDS);
    FuzzRun.Result result = FuzzRun.beside(cluster, seed, inTime, () -> flood(flood));
    findings.addAll(result.findings());
    awaitFewConnections();
    List<Footprint> coordinators = new ArrayList<>();
    for (int i = 0; i < FuzzedCluster.SIZE; i++) {
      coordinators.add(Footprint.of(cluster.server(i)));
    }
    Measured measured = new Measured(coordinators, cluster.znodes());
    all.add(measured);
    System.out.printf("fuzz: minute %d, seed %d, %s%n  %s%n", minute + 1, seed, result, measured);
  }

  private void flood(Floods.Flood flood) {
    for (int i = 0; i < FuzzedCluster.SIZE; i++) {
      try (Attack attack =
          new Attack(
              cluster.server(i).port(), Optional.of(cluster.callers().context(Caller.ATTACKER)))) {
        flood.run(attack);
      } catch (IOException e) {
        System.out.println("fuzz: the flood was stopped: " + e.getMessage());
      }
    }
  }

  private void awaitFewConnections() {
    Awaitility.await("connections given back")
        .atMost(CLEARANCE)
        .until(() -> cluster.metric("lockkeeper_connections") <= FEW_CONNECTIONS);
  }

  private void checkGrowth() {
    for (int i = 0; i < FuzzedCluster.SIZE; i++) {
      int coordinator = i;
      check(coordinator, "heap", Footprint::heapBytes);
      check(coordinator, "other memory", Footprint::otherBytes);
      check(coordinator, "threads", Footprint::threads);
      check(coordinator, "files", Footprint::files);
    }
    check("znodes", Measured::znodes, MOST_ZNODES_MORE);
  }

  private void check(int coordinator, String what, ToLongFunction<Footprint> part) {
    check(
        "coordinator " + coordinator + ": " + what,
        measured -> part.applyAsLong(measured.coordinators().get(coordinator)),
        part.applyAsLong(MOST_GROWTH));
  }

  private void check(String what, ToLongFunction<Measured> part, long most) {
    int third = all.size() / 3;
    long before = least(all.subList(third, 2 * third), part);
    long last = least(all.subList(2 * third, all.size()), part);
    if (last > before + most) {
      findings.add(what + " grew from " + before + " to " + last);
    }
  }

  private static long least(List<Measured> some, ToLongFunction<Measured> part) {
    return some.stream().mapToLong(part).min().orElse(0);
  }
}
