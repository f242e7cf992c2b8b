package io.lockkeeper.server.coordinator.api;

import io.lockkeeper.server.core.api.LockChange;
import java.util.Optional;
import java.util.function.Function;

/**
 * A change on its way to its watchers, who all get the same object: what it looks like on the wire
 * is worked out once.
 */
public final class WatchedChange {

  private final LockChange change;
  private final long number;
  private volatile Optional<Object> form = Optional.empty();

  /**
   * Makes one.
   *
   * @param change what happened
   * @param number rises with every change
   */
  public WatchedChange(LockChange change, long number) {
    this.change = change;
    this.number = number;
  }

  /** Returns what happened. */
  public LockChange change() {
    return change;
  }

  /** Returns the number of the last change that it stands for. */
  public long number() {
    return number;
  }

  /** Returns what {@code maker} makes of it, from the first time on. There is one kind of form. */
  public <T> T form(Class<T> type, Function<LockChange, T> maker) {
    Optional<Object> made = form;
    if (made.isPresent()) {
      return type.cast(made.get());
    }
    T fresh = maker.apply(change);
    form = Optional.of(fresh);
    return fresh;
  }

  /** Returns one that stands for this and a later one. */
  public WatchedChange and(WatchedChange newer) {
    LockChange last = newer.change;
    return new WatchedChange(
        new LockChange(
            last.revision(),
            last.lock(),
            LockChange.Cause.SEVERAL,
            Optional.empty(),
            last.holders(),
            last.queueLength(),
            change.coalesced() + last.coalesced()),
        newer.number);
  }
}
