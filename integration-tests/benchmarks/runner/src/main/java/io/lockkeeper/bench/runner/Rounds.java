package io.lockkeeper.bench.runner;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** In which order things are measured, so that none is always the one after another. */
final class Rounds {

  private Rounds() {}

  /** Returns the order of each round: the same for the same seed. */
  static <T> List<List<T>> of(List<T> things, int rounds, long seed) {
    Random random = new Random(seed);
    List<List<T>> orders = new ArrayList<>();
    for (int i = 0; i < rounds; i++) {
      List<T> order = new ArrayList<>(things);
      Collections.shuffle(order, random);
      orders.add(order);
    }
    return orders;
  }
}
