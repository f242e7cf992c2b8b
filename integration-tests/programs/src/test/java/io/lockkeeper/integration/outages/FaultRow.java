package io.lockkeeper.integration.outages;

import static io.lockkeeper.integration.outages.Outages.say;
import static io.lockkeeper.integration.outages.Outages.seconds;

import io.lockkeeper.integration.failover.Load;
import io.lockkeeper.integration.failover.Pace;
import io.lockkeeper.integration.failover.Told;
import io.lockkeeper.integration.outages.Scene.Need;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;

/**
 * A fault that hits one of three and two of five servers, the leader among them or not; or all but
 * one coordinator. There is a quorum all the time, so nothing may be lost.
 *
 * @param name the word by which it is asked for
 * @param outage what happened, for the table
 * @param lasts how long
 * @param fault what is done
 * @param need what it needs
 * @param onCoordinators whether it hits coordinators instead
 * @param slack how much longer a gap in grants may be than one in which ZooKeeper takes no write,
 *     where there is one victim; three times as much where there are two, since who leaves one may
 *     come to the other, and a peer may take leases over meanwhile
 * @param leaderKeeps whether nothing may be lost where the leader is hit, too
 */
record FaultRow(
    String name,
    String outage,
    Duration lasts,
    Fault fault,
    Need need,
    boolean onCoordinators,
    Duration slack,
    boolean leaderKeeps)
    implements Row {

  /** Who is told so holds nothing and waits for nothing. */
  private static final String REFUSED = "ServerUnavailableException";

  private static final Duration SETTLING = Duration.ofSeconds(5);
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** Returns the same with what it needs. */
  FaultRow with(Need what) {
    return new FaultRow(name, outage, lasts, fault, what, onCoordinators, slack, leaderKeeps);
  }

  /** Returns the same as a fault of coordinators. */
  FaultRow onlyCoordinators() {
    return new FaultRow(name, outage, lasts, fault, need, true, slack, leaderKeeps);
  }

  /** Returns the same with a lower floor: where the leader is hit, locks may be lost. */
  FaultRow atBest(Duration beyondZooKeeper) {
    return new FaultRow(name, outage, lasts, fault, need, onCoordinators, beyondZooKeeper, false);
  }

  @Override
  public List<Line> run(Random random) {
    // Side by side: most of their time they wait.
    CompletableFuture<List<Line>> small = inScene(3, 1, 2, new Random(random.nextLong()));
    CompletableFuture<List<Line>> large = inScene(5, 2, 3, new Random(random.nextLong()));
    return Stream.of(small, large).flatMap(lines -> lines.join().stream()).toList();
  }

  private CompletableFuture<List<Line>> inScene(
      int servers, int victims, int coordinators, Random random) {
    return CompletableFuture.supplyAsync(
        () -> {
          List<Line> lines = new ArrayList<>();
          try (Scene scene = Scene.start(servers, coordinators, need)) {
            for (boolean leader : onCoordinators ? List.of(false) : List.of(false, true)) {
              lines.add(strike(scene, victims, leader, random));
            }
          } catch (SkippedException e) {
            lines.add(Line.without(outage, "skipped: " + e.getMessage(), List.of()));
          } catch (RuntimeException | AssertionError e) {
            String where = victims + " of " + servers;
            lines.add(Line.without(outage, where, List.of("could not be tried: " + e)));
          }
          return lines;
        },
        task -> new Thread(task, name + "-of-" + servers).start());
  }

  private Line strike(Scene scene, int count, boolean leader, Random random) {
    int coordinators = scene.cluster().seats().size();
    int servers = scene.cluster().ensemble().servers().size();
    List<Integer> victims =
        onCoordinators
            ? IntStream.range(0, coordinators - 1).boxed().toList()
            : scene.choose(count, leader, random);
    String who = leader ? (count == 1 ? "the leader" : "the leader and a follower") : "no leader";
    String where =
        onCoordinators
            ? "%d of %d coordinators; %d servers".formatted(victims.size(), coordinators, servers)
            : "%d of %d, %s; %d coordinators".formatted(count, servers, who, coordinators);
    String others = scene.connectStringWithout(onCoordinators ? List.of() : victims);
    CuratorSide curator = CuratorSide.start(others, scene.locks(), scene.load().rooms());
    try (Probe probe = Probe.start(others)) {
      Pace.letPass(SETTLING.plusMillis(random.nextLong(TwoHolders.PERIOD.toMillis())));
      return measure(scene, victims, where, probe, !leader || leaderKeeps);
    } finally {
      curator.close();
    }
  }

  private Line measure(
      Scene scene, List<Integer> victims, String where, Probe probe, boolean keeps) {
    final Load load = scene.load();
    final Logs logs = new Logs(scene.cluster().seats());
    final Told toldBefore = load.told();
    final int lostBefore = load.losses().size();
    final int doubledBefore = load.violations().size();
    final List<String> broken = new ArrayList<>();
    final long startNanos = System.nanoTime();
    say("  %s", where);
    Fault.Undo undo = fault.strike(scene, victims);
    try {
      Pace.letPass(lasts);
    } finally {
      undo.close();
    }
    try {
      scene.recover(PATIENCE);
    } catch (ConditionTimeoutException e) {
      broken.add("not all is well again in time: " + e.getMessage());
    }
    Pace.letPass(SETTLING);
    List<String> missed = load.losses().subList(lostBefore, load.losses().size());
    List<String> lost = missed.stream().filter(what -> !what.contains(REFUSED)).toList();
    List<String> doubled = load.violations().subList(doubledBefore, load.violations().size());
    Duration gap = load.longestGapSince(startNanos);
    Duration ownGap = probe.longestGapSince(startNanos);
    lost.forEach(what -> say("  %s: %s", where, what));
    doubled.forEach(what -> say("  %s: %s", where, what));
    if (keeps && !lost.isEmpty()) {
      broken.add(lost.size() + " locks or places lost: " + lost.get(0));
    }
    if (!doubled.isEmpty()) {
      broken.add(doubled.size() + " times two holders at once: " + doubled.get(0));
    }
    Duration most = slack.multipliedBy(2L * victims.size() - 1);
    if (gap.compareTo(ownGap.plus(most)) >= 0) {
      broken.add("no grant for " + seconds(gap) + ", and for " + seconds(ownGap) + " no write");
    }
    return new Line(
        outage,
        where,
        seconds(gap),
        seconds(ownGap),
        "" + lost.size(),
        "" + doubled.size(),
        load.told().minus(toldBefore) + ", refused " + (missed.size() - lost.size()),
        logs.since(),
        "gap below ZooKeeper's + "
            + most.toSeconds()
            + " s"
            + (keeps ? ", nothing lost" : "")
            + ", never two",
        broken);
  }
}
