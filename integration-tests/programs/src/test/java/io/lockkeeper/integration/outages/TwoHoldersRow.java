package io.lockkeeper.integration.outages;

import static io.lockkeeper.integration.outages.Outages.say;
import static io.lockkeeper.integration.outages.Outages.seconds;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/** A server freezes with coordinators behind it, at any phase of the proofs of their sessions. */
final class TwoHoldersRow implements Row {

  private static final int COORDINATORS = 4;
  private static final int HOLDERS = 40;
  private static final int FREEZES = 5;

  @Override
  public String name() {
    return "two-holders";
  }

  @Override
  public List<Line> run(Random random) throws Exception {
    List<Contest> contests = new ArrayList<>();
    try (TwoHolders sides = TwoHolders.start(COORDINATORS)) {
      for (int i = 0; i < FREEZES; i++) {
        List<Contest> these = sides.freeze(phases(random));
        these.forEach(contest -> say("  %s", contest));
        contests.addAll(these);
      }
    }
    List<Contest> doubled = contests.stream().filter(c -> c.margin().isNegative()).toList();
    Duration smallest =
        contests.stream().map(Contest::margin).min(Comparator.naturalOrder()).orElseThrow();
    String where =
        "a follower of 3 and %d coordinators that know no other; Curator on the rest; %d phases"
            .formatted(COORDINATORS, contests.size());
    String twice = doubled.size() + "; smallest margin " + seconds(smallest);
    List<String> broken =
        doubled.stream().map(contest -> "two holders at once: " + contest).toList();
    return List.of(new Line("frozen", where, "", "", "", twice, "", "", "never two", broken));
  }

  /** Half of them within a second of the last proof: what follows it is the dangerous time. */
  private static List<Duration> phases(Random random) {
    long all = TwoHolders.PERIOD.toMillis();
    return Stream.generate(() -> random.nextBoolean() ? all : all / 5)
        .limit(HOLDERS)
        .map(range -> Duration.ofMillis((long) (random.nextDouble() * range)))
        .toList();
  }
}
