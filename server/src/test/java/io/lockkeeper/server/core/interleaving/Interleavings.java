package io.lockkeeper.server.core.interleaving;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Tries all orders in which things can happen. Orders that lead to the same state are tried once
 * from there on, and counted as many times as there are.
 */
final class Interleavings {

  private static final int MAX_STATES = 100_000;

  private final Supplier<TinyWorld> begin;
  private final Map<Long, BigInteger> ordersFrom = new HashMap<>();
  private final List<Integer> path = new ArrayList<>();
  private final List<String> story = new ArrayList<>();
  private int steps;
  private int ends;

  private Interleavings(Supplier<TinyWorld> begin) {
    this.begin = begin;
  }

  /**
   * What was tried.
   *
   * @param orders in how many orders things can happen
   * @param states how many different states there are
   * @param steps how many different steps lead from one to another
   * @param ends how many different ends there are
   */
  record Tried(BigInteger orders, int states, int steps, int ends) {}

  static Tried all(Supplier<TinyWorld> begin) {
    Interleavings all = new Interleavings(begin);
    BigInteger orders = all.from(begin.get());
    return new Tried(orders, all.ordersFrom.size(), all.steps, all.ends);
  }

  private BigInteger from(TinyWorld arrived) {
    long state = arrived.state();
    BigInteger known = ordersFrom.get(state);
    if (known != null) {
      return known;
    }
    int count = arrived.choices().size();
    BigInteger orders = count == 0 ? BigInteger.ONE : BigInteger.ZERO;
    if (count == 0) {
      ends++;
      guarded("the end", arrived::finish);
    }
    for (int i = 0; i < count; i++) {
      orders = orders.add(take(i == 0 ? arrived : again(), i));
    }
    ordersFrom.put(state, orders);
    if (ordersFrom.size() > MAX_STATES) {
      throw new AssertionError("too many states");
    }
    return orders;
  }

  private BigInteger take(TinyWorld world, int index) {
    steps++;
    TinyWorld.Choice choice = world.choices().get(index);
    path.add(index);
    story.add(choice.what());
    guarded(
        choice.what(),
        () -> {
          choice.happening().run();
          world.checkHolders();
        });
    BigInteger orders = from(world);
    path.remove(path.size() - 1);
    story.remove(story.size() - 1);
    return orders;
  }

  private void guarded(String what, Runnable step) {
    try {
      step.run();
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError(e + " at " + what + " after " + story, e);
    }
  }

  private TinyWorld again() {
    TinyWorld world = begin.get();
    path.forEach(index -> world.choices().get(index).happening().run());
    return world;
  }
}
