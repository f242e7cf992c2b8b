package io.lockkeeper.integration.demo;

import java.util.ArrayList;
import java.util.List;

/** Counts what the shops say. */
final class Tally {

  private final List<Long> waitsMillis = new ArrayList<>();
  private int sold;
  private int left;

  synchronized void hear(String line) {
    String[] words = line.split(" ", -1);
    switch (words[0]) {
      case "sold" -> sold++;
      case "left" -> left++;
      case "granted" -> waitsMillis.add(Long.parseLong(words[2]));
      default -> {
        // "ready" and "closed" are for the one who started the shop.
      }
    }
  }

  synchronized int sold() {
    return sold;
  }

  synchronized int left() {
    return left;
  }

  synchronized int grants() {
    return waitsMillis.size();
  }

  synchronized double meanWaitSeconds() {
    return waitsMillis.stream().mapToLong(Long::longValue).average().orElse(0) / 1_000;
  }

  synchronized double longestWaitSeconds() {
    return waitsMillis.stream().mapToLong(Long::longValue).max().orElse(0) / 1_000.0;
  }
}
