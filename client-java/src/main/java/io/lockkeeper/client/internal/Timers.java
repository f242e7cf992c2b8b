package io.lockkeeper.client.internal;

import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What is to be done later, the earliest first; of two at the same time, the one that was made
 * first. A heap whose timers know their places: most are taken back long before they are due, and
 * that costs no search. For any thread.
 */
final class Timers {

  private Loop.Timer[] heap = new Loop.Timer[16];
  private int size;
  private long made;

  /** Adds a timer and says whether it is the earliest now. */
  synchronized boolean add(Loop.Timer timer) {
    if (size == heap.length) {
      heap = Arrays.copyOf(heap, 2 * size);
    }
    timer.number = made++;
    rise(timer, size++);
    return timer.place == 0;
  }

  /** Removes a timer, if it is there. */
  synchronized void remove(Loop.Timer timer) {
    int place = timer.place;
    if (place < 0) {
      return;
    }
    timer.place = -1;
    Loop.Timer last = heap[--size];
    heap[size] = null;
    if (last != timer) {
      sink(last, place);
      if (last.place == place) {
        rise(last, place);
      }
    }
  }

  /** Removes and returns the earliest timer that is due at {@code nowNanos}. */
  synchronized Optional<Loop.Timer> pollDue(long nowNanos) {
    if (size == 0 || heap[0].dueNanos - nowNanos > 0) {
      return Optional.empty();
    }
    Loop.Timer due = heap[0];
    remove(due);
    return Optional.of(due);
  }

  synchronized int size() {
    return size;
  }

  /** Returns when the earliest is due. */
  synchronized OptionalLong nextDueNanos() {
    return size == 0 ? OptionalLong.empty() : OptionalLong.of(heap[0].dueNanos);
  }

  /** Removes all. */
  synchronized void clear() {
    for (int i = 0; i < size; i++) {
      heap[i].place = -1;
    }
    size = 0;
    heap = new Loop.Timer[16];
  }

  private void rise(Loop.Timer timer, int from) {
    int place = from;
    while (place > 0) {
      int above = (place - 1) >>> 1;
      if (!timer.isBefore(heap[above])) {
        break;
      }
      put(heap[above], place);
      place = above;
    }
    put(timer, place);
  }

  private void sink(Loop.Timer timer, int from) {
    int place = from;
    while (2 * place + 1 < size) {
      int below = 2 * place + 1;
      if (below + 1 < size && heap[below + 1].isBefore(heap[below])) {
        below++;
      }
      if (!heap[below].isBefore(timer)) {
        break;
      }
      put(heap[below], place);
      place = below;
    }
    put(timer, place);
  }

  private void put(Loop.Timer timer, int place) {
    heap[place] = timer;
    timer.place = place;
  }
}
