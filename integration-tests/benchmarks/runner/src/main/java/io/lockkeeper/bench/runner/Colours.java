package io.lockkeeper.bench.runner;

import java.util.List;
import java.util.Map;

/** Colours that can be told apart on a light and on a dark ground. */
final class Colours {

  private static final Map<String, String> SYSTEMS =
      Map.of(
          "lockkeeper", "#d1495b",
          "raw-async", "#7f8a99",
          "raw-multi", "#a9b2bd",
          "curator", "#3f88c5",
          "ping-pong", "#8e6bbf",
          "etcd", "#3a9d7d",
          "redisson", "#e08e2b",
          "redisson-fair", "#c9a227",
          "redisson-nofsync", "#b07d4f");

  private static final List<String> PARTS = List.of("#3f88c5", "#d1495b", "#e08e2b", "#3a9d7d");

  private Colours() {}

  /** Returns a system's colour. */
  static String of(String system) {
    return SYSTEMS.getOrDefault(system, "#7f8a99");
  }

  /** Returns the colour of the kinds of processes, by their number. */
  static String ofPart(int number) {
    return PARTS.get(number % PARTS.size());
  }
}
