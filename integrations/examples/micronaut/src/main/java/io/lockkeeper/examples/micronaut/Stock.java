package io.lockkeeper.examples.micronaut;

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

  private static final Shelf EMPTY = new Shelf(0, 0);

  private final Map<String, Shelf> shelves = new HashMap<>();

  /** Opens with three lamps and three chairs. */
  public Stock() {
    fill("lamp", 3);
    fill("chair", 3);
  }

  /** Sets how many of an item are left, zero or more. What an old token may not do stays so. */
  public synchronized void fill(String item, int count) {
    long highestToken = shelves.getOrDefault(item, EMPTY).highestToken();
    shelves.put(item, new Shelf(count, highestToken));
  }

  /**
   * Does nothing if at least one item is left.
   *
   * @throws OutOfStockException if none is left, or there has never been one
   */
  public synchronized void require(String item) {
    if (shelves.getOrDefault(item, EMPTY).left() == 0) {
      throw new OutOfStockException(item);
    }
  }

  /**
   * Takes one item and returns how many are left.
   *
   * @throws IllegalStateException if the token is lower than one that was seen for the item
   * @throws OutOfStockException if none is left
   */
  public synchronized int take(String item, long fencingToken) {
    Shelf shelf = shelves.getOrDefault(item, EMPTY);
    if (fencingToken < shelf.highestToken()) {
      throw new IllegalStateException(
          "token " + fencingToken + " of " + item + " is lower than " + shelf.highestToken());
    }
    require(item);
    shelves.put(item, new Shelf(shelf.left() - 1, fencingToken));
    return shelf.left() - 1;
  }
}
