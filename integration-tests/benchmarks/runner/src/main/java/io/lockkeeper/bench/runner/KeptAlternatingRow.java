package io.lockkeeper.bench.runner;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Two clients of two processes that take one lock in turn, as kept locks are not meant for: each
 * finds it kept by the other.
 */
final class KeptAlternatingRow extends OwnRow {

  private static final String LOAD = "io.lockkeeper.bench.lockkeeper.TurnsLoad";
  private static final int TURNS = 500;
  private static final int WARM_UP = 5;

  KeptAlternatingRow() {
    super("kept-alternating");
  }

  @Override
  public void run(Settings settings, Stage stage, Results results)
      throws IOException, InterruptedException {
    String server = stage.coordinator().address();
    List<Double> plain = new ArrayList<>();
    List<Double> kept = new ArrayList<>();
    try (TalkingJvm one = stage.talk("turns-1", LOAD, server);
        TalkingJvm other = stage.talk("turns-2", LOAD, server)) {
      for (int i = 0; i < WARM_UP && settings.warmUpSeconds() > 0; i++) {
        double unused = median("plain", one, other) + median("kept", one, other);
      }
      for (List<String> round :
          Rounds.of(List.of("plain", "kept"), settings.rounds(), settings.seed())) {
        for (String way : round) {
          (way.equals("kept") ? kept : plain).add(median(way, one, other));
        }
      }
    }
    results.figure(label(), "plain: median acquire, us", Statistics.median(plain));
    results.figure(label(), "kept: median acquire, us", Statistics.median(kept));
    results.ratio(label() + "/plain", Statistics.median(kept) / Statistics.median(plain));
  }

  private double median(String way, TalkingJvm one, TalkingJvm other) throws IOException {
    List<Double> micros = new ArrayList<>();
    for (int i = 0; i < TURNS; i++) {
      for (TalkingJvm client : List.of(one, other)) {
        micros.add(client.ask(way + " bench/turns-" + way).get("micros").asDouble());
      }
    }
    return Statistics.median(micros);
  }
}
