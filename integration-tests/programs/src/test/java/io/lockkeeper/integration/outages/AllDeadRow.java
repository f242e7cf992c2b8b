package io.lockkeeper.integration.outages;

import static io.lockkeeper.integration.outages.Outages.say;
import static io.lockkeeper.integration.outages.Outages.seconds;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.integration.failover.Cluster;
import io.lockkeeper.integration.failover.Pace;
import io.lockkeeper.integration.harness.ByteProxy;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** All servers are killed and started again, while {@code lockkeeper run} holds locks. */
final class AllDeadRow implements Row {

  private static final List<Duration> OUTAGES =
      List.of(Duration.ofSeconds(15), Duration.ofSeconds(18), Duration.ofSeconds(21));

  /** How often for each length. */
  private static final long TIMES = Outages.setting("TIMES", 3);

  private static final int HOLDERS = 8;

  /** Servers are started so long before anybody can reach them. */
  private static final Duration START_UP = Duration.ofSeconds(12);

  /** An outage that takes so much longer, since servers are slow to start, is tried again. */
  private static final Duration TOLERANCE = Duration.ofSeconds(1);

  private static final Duration SETTLING = Duration.ofSeconds(5);

  private static final Duration GRANTS_AGAIN = Duration.ofSeconds(8);

  @Override
  public String name() {
    return "all-dead";
  }

  @Override
  public List<Line> run(Random random) throws InterruptedException {
    List<Line> lines = new ArrayList<>();
    try (Cluster cluster = Cluster.start(new Cluster.Plan(Pace.PRODUCTION, 3, 3, true, false));
        LockkeeperClient client = cluster.client(Duration.ofSeconds(15))) {
      Holders holders = new Holders(cluster);
      try {
        for (Duration length : OUTAGES) {
          lines.add(measure(length, cluster, holders, client, random));
        }
      } finally {
        holders.close();
      }
    }
    return lines;
  }

  private Line measure(
      Duration length, Cluster cluster, Holders holders, LockkeeperClient client, Random random)
      throws InterruptedException {
    List<Duration> lengths = new ArrayList<>();
    List<Duration> grants = new ArrayList<>();
    List<String> broken = new ArrayList<>();
    int lost = 0;
    holders.forget();
    final Logs logs = new Logs(cluster.seats());
    for (int tries = 0; lengths.size() < TIMES && tries < 2 * TIMES; tries++) {
      holders.start();
      Pace.letPass(SETTLING.plusMillis(random.nextLong(TwoHolders.PERIOD.toMillis())));
      Duration outage = outage(length, cluster);
      final long overNanos = System.nanoTime();
      try (LockHandle again = client.lock("grants-again")) {
        grants.add(Duration.ofNanos(System.nanoTime() - overNanos));
        say(
            "  %s; granted again %s later",
            seconds(outage), seconds(grants.get(grants.size() - 1)));
        again.checkValid();
      }
      Pace.letPass(SETTLING);
      List<String> gone = holders.gone();
      if (outage.compareTo(length.plus(TOLERANCE)) > 0) {
        say("  not counted, too long; lost: %d", gone.size());
        continue;
      }
      lengths.add(outage);
      lost += gone.size();
      gone.forEach(who -> broken.add("after " + seconds(outage) + " lost: " + who));
    }
    if (lengths.size() < TIMES) {
      broken.add("only " + lengths.size() + " outages of that length came about");
    }
    Duration longest = Collections.max(grants);
    if (longest.compareTo(GRANTS_AGAIN) >= 0) {
      broken.add("no grant for " + seconds(longest) + " after it was over");
    }
    return new Line(
        "all killed",
        "3 of 3, %d times for %s to %s; 3 coordinators, %d of `lockkeeper run`"
            .formatted(
                lengths.size(),
                lengths.isEmpty() ? "" : seconds(Collections.min(lengths)),
                lengths.isEmpty() ? "" : seconds(Collections.max(lengths)),
                HOLDERS),
        seconds(longest) + " after it was over",
        "",
        "" + lost,
        "",
        holders.said(),
        logs.since(),
        "grants again within " + GRANTS_AGAIN.toSeconds() + " s, nothing lost",
        broken);
  }

  /** Kills all servers and has none within reach for so long; returns how long it really was. */
  private static Duration outage(Duration length, Cluster cluster) {
    List<ByteProxy> wires =
        IntStream.range(0, cluster.seats().size())
            .boxed()
            .flatMap(index -> cluster.wires(index).stream())
            .toList();
    final long killedNanos = System.nanoTime();
    wires.forEach(ByteProxy::refuse);
    cluster.ensemble().servers().forEach(ZooKeeperProcess::kill);
    letPassUntil(killedNanos + length.minus(START_UP).toNanos());
    cluster.ensemble().startAll();
    letPassUntil(killedNanos + length.toNanos());
    wires.forEach(ByteProxy::admit);
    return Duration.ofNanos(System.nanoTime() - killedNanos);
  }

  private static void letPassUntil(long nanos) {
    Pace.letPass(Duration.ofNanos(Math.max(0, nanos - System.nanoTime())));
  }

  /** Processes that hold a lock each. */
  private static final class Holders implements AutoCloseable {

    private final List<String> addresses;
    private final Path directory = Scratch.directory("holders");
    private final List<LockedSleep> all = new ArrayList<>();
    private final List<LockedSleep> ended = new ArrayList<>();
    private int count;

    Holders(Cluster cluster) {
      addresses = cluster.seats().stream().map(seat -> seat.address()).toList();
    }

    /** Has all of them running. */
    void start() {
      for (int i = all.size(); i < HOLDERS; i++) {
        List<String> rotated = new ArrayList<>(addresses);
        Collections.rotate(rotated, i);
        // One after the other: it gives up if no server answers while all of them begin.
        all.add(LockedSleep.start(directory, "held-" + ++count, String.join(",", rotated)));
        all.get(i).awaitHeld();
      }
    }

    /** Takes those out that do not hold any more, and returns them. */
    List<String> gone() {
      List<LockedSleep> gone = all.stream().filter(holder -> !holder.holds()).toList();
      all.removeAll(gone);
      ended.addAll(gone);
      return gone.stream().map(LockedSleep::toString).toList();
    }

    /** Returns what they have said so far. */
    String said() {
      List<LockedSleep> both = new ArrayList<>(all);
      both.addAll(ended);
      return both.stream()
          .flatMap(holder -> holder.said().stream())
          .collect(Collectors.groupingBy(line -> line, Collectors.counting()))
          .entrySet()
          .stream()
          .map(entry -> entry.getValue() + " x " + entry.getKey())
          .sorted()
          .collect(Collectors.joining("; "));
    }

    /** Begins anew with what they say. */
    void forget() {
      all.forEach(LockedSleep::forget);
      ended.clear();
    }

    @Override
    public void close() {
      all.forEach(LockedSleep::close);
    }
  }
}
