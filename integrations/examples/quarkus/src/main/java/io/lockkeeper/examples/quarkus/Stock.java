package io.lockkeeper.examples.quarkus;

import jakarta.inject.Singleton;
import java.util.HashMap;
import java.util.Map;

/**
 * What the locks protect: for each item how many are left, and the highest fencing token that it
 * was changed with. A table of a database would have a column for either.
 */
@Singleton
public final class Stock {

  private record Shelf(int left, long highestToken) {}

  private final Map<String, Shelf> shelves = new HashMap<>();

  /** Sets how many of an item are left, zero or more. */
  public synchronized void fill(String item, int count) {
    shelves.put(item, new Shelf(count, 0));
  }

  /**
   * Takes one item and returns how many are left.
   *
   * @throws IllegalStateException if the token is lower than one that was seen for the item, or
   *     none is left
   */
  public synchronized int take(String item, long fencingToken) {
    Shelf shelf = shelves.getOrDefault(item, new Shelf(0, 0));
    if (fencingToken < shelf.highestToken()) {
      throw new IllegalStateException(
          "token " + fencingToken + " of " + item + " is lower than " + shelf.highestToken());
    }
    if (shelf.left() == 0) {
      throw new IllegalStateException("no " + item + " is left");
    }
    shelves.put(item, new Shelf(shelf.left() - 1, fencingToken));
    return shelf.left() - 1;
  }
}
