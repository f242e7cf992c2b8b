package io.lockkeeper.conformance;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Keeps what has arrived until a script asks for it, in whichever order it asks. */
final class Mailbox<T> {

  /** How long a script waits for what must come: far longer than a busy machine takes. */
  static final long PATIENCE_SECONDS = 20;

  private final List<T> arrived = new ArrayList<>();
  private final long patienceSeconds;
  private String end = "";

  Mailbox() {
    this(PATIENCE_SECONDS);
  }

  /** Makes one for a script that waits for so long at most. */
  Mailbox(long patienceSeconds) {
    this.patienceSeconds = patienceSeconds;
  }

  /** Adds something. From any thread. */
  synchronized void add(T item) {
    arrived.add(item);
    notifyAll();
  }

  /** Nothing more arrives. */
  synchronized void end(String why) {
    if (end.isEmpty()) {
      end = why;
    }
    notifyAll();
  }

  /** Waits until nothing more arrives. */
  void awaitEnd(String what) {
    String unused = until(what, () -> end.isEmpty() ? Optional.empty() : Optional.of(end));
  }

  /** Takes the first item that fits, waiting for it. */
  T await(String what, Predicate<T> fits) {
    return awaitOrEnd(what, fits)
        .orElseThrow(() -> new Unmet("waited for " + what + ", but " + whyEnded()));
  }

  /** Like {@link #await}; empty if nothing more arrives. */
  Optional<T> awaitOrEnd(String what, Predicate<T> fits) {
    return until(
        what,
        () -> {
          Optional<T> found = poll(fits);
          return found.isPresent() || !end.isEmpty() ? Optional.of(found) : Optional.empty();
        });
  }

  private synchronized String whyEnded() {
    return end;
  }

  /** Takes the first item that fits, if it is there. */
  synchronized Optional<T> poll(Predicate<T> fits) {
    for (Iterator<T> items = arrived.iterator(); items.hasNext(); ) {
      T item = items.next();
      if (fits.test(item)) {
        items.remove();
        return Optional.of(item);
      }
    }
    return Optional.empty();
  }

  private synchronized <R> R until(String what, Supplier<Optional<R>> look) {
    long giveUpNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(patienceSeconds);
    Optional<R> found = look.get();
    while (found.isEmpty()) {
      long leftMillis = TimeUnit.NANOSECONDS.toMillis(giveUpNanos - System.nanoTime());
      Unmet.unless(leftMillis > 0, "waited " + patienceSeconds + " s for " + what);
      try {
        wait(leftMillis);
      } catch (InterruptedException e) {
        throw new Unmet("interrupted while it waited for " + what);
      }
      found = look.get();
    }
    return found.get();
  }
}
