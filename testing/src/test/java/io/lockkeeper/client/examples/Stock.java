package io.lockkeeper.client.examples;

/** What a lock protects: it refuses whoever comes with an older token than it has seen. */
final class Stock {

  private int left;
  private int sold;
  private long highestToken;

  Stock(int items) {
    left = items;
  }

  /** Takes one item; says whether it did. */
  synchronized boolean take(long fencingToken) {
    if (fencingToken < highestToken || left == 0) {
      return false;
    }
    highestToken = fencingToken;
    left--;
    sold++;
    return true;
  }

  synchronized int left() {
    return left;
  }

  synchronized int sold() {
    return sold;
  }
}
