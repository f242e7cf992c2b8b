package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.FreezeEvent;
import io.lockkeeper.server.core.api.FreezeView;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.lock.Freeze;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Timers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The frozen prefixes as the mirror shows them, and the timers of those that thaw by themselves.
 * Every coordinator runs a timer for each; the first to fire deletes the freeze. Grants resume when
 * the mirror shows that the freeze is gone, not before.
 */
public final class Freezes {

  /** Longer than one attempt to thaw takes. */
  private static final long AGAIN_NANOS = Duration.ofSeconds(6).toNanos();

  private static final String NOT_READ = "(not read yet)";

  private final CoreState core;
  private final NavigableMap<String, Frozen> frozen = new TreeMap<>();

  /**
   * One frozen prefix.
   *
   * @param freeze what its record says, as far as it was read
   * @param zxid the transaction that wrote that, zero if it was not read
   * @param sinceNanos when this was seen first
   * @param thaw the next attempt to thaw it, if it thaws by itself
   */
  private record Frozen(Freeze freeze, long zxid, long sinceNanos, Optional<Timers.Timer> thaw) {}

  public Freezes(CoreState core) {
    this.core = core;
  }

  /** Returns whether nobody new may be granted a lock. */
  boolean isFrozen(LockName lock) {
    return !frozen.isEmpty() && over(lock).isPresent();
  }

  /** Returns the freeze that a lock is under, the one with the longest prefix of several. */
  Optional<FreezeView> of(LockName lock) {
    return over(lock).map(this::view);
  }

  /** The same, once it is known why. */
  Optional<FreezeView> known(LockName lock) {
    return over(lock).filter(freeze -> freeze.zxid() > 0).map(this::view);
  }

  /**
   * Whatever is between a prefix of a name and the name, in the order of texts, begins with that
   * prefix too. So each step is at the longest prefix that is left to look for.
   */
  private Optional<Frozen> over(LockName lock) {
    String name = lock.value();
    Map.Entry<String, Frozen> below = frozen.floorEntry(name);
    while (below != null && !name.startsWith(below.getKey())) {
      below = frozen.floorEntry(commonPrefix(name, below.getKey()));
    }
    return Optional.ofNullable(below).map(Map.Entry::getValue);
  }

  private static String commonPrefix(String one, String other) {
    int length = 0;
    while (length < Math.min(one.length(), other.length())
        && one.charAt(length) == other.charAt(length)) {
      length++;
    }
    return one.substring(0, length);
  }

  /** Says why a request is granted nothing while one of its locks is frozen. */
  Optional<String> inWords(AcquireCommand command) {
    return command.locks().stream()
        .flatMap(wanted -> of(wanted.name()).stream().map(view -> inWords(wanted.name(), view)))
        .findFirst();
  }

  private static String inWords(LockName lock, FreezeView view) {
    String reason = view.freeze().reason();
    return "lock '" + lock + "' is frozen" + (reason.isEmpty() ? "" : ": " + reason);
  }

  /** Returns all, ordered by prefix. */
  public List<FreezeView> all() {
    return frozen.values().stream().map(this::view).toList();
  }

  private FreezeView view(Frozen one) {
    return new FreezeView(
        one.freeze(),
        core.now - one.sinceNanos(),
        one.freeze()
            .duration()
            .map(duration -> Math.max(0, one.sinceNanos() + duration.toNanos() - core.now)));
  }

  boolean contains(String prefix) {
    return frozen.containsKey(prefix);
  }

  int size() {
    return frozen.size();
  }

  /** Returns how many of them count for an account. */
  int size(String account) {
    return (int)
        frozen.values().stream().filter(one -> one.freeze().account().equals(account)).count();
  }

  /** A prefix is frozen: at once, whatever its record turns out to say. */
  void appeared(String prefix) {
    frozen.putIfAbsent(
        prefix, new Frozen(Freeze.unread(prefix, NOT_READ), 0, core.now, Optional.empty()));
  }

  /** The record of a prefix was read; returns whether it is news. */
  boolean read(FreezeEvent.Read event) {
    Frozen known = frozen.get(event.freeze().prefix());
    if (known == null || known.zxid() == event.zxid()) {
      return false;
    }
    known.thaw().ifPresent(core.timers::cancel);
    long since = known.zxid() == 0 ? known.sinceNanos() : core.now;
    Frozen next = new Frozen(event.freeze(), event.zxid(), since, Optional.empty());
    long due = event.freeze().duration().map(d -> since + d.toNanos()).orElse(0L);
    frozen.put(
        event.freeze().prefix(),
        event.freeze().duration().isPresent() ? thawingAt(due, next) : next);
    return true;
  }

  private Frozen thawingAt(long nanos, Frozen one) {
    Timers.Timer timer = core.timers.at(nanos, () -> thaw(one));
    return new Frozen(one.freeze(), one.zxid(), one.sinceNanos(), Optional.of(timer));
  }

  private void thaw(Frozen one) {
    String prefix = one.freeze().prefix();
    core.emit(new StoreEffect.Thaw(prefix, one.zxid()));
    frozen.put(prefix, thawingAt(core.now + AGAIN_NANOS, one));
  }

  /** A prefix is frozen no more; returns whether it was. */
  boolean vanished(String prefix) {
    Optional<Frozen> gone = Optional.ofNullable(frozen.remove(prefix));
    gone.flatMap(Frozen::thaw).ifPresent(core.timers::cancel);
    return gone.isPresent();
  }

  /** Makes the prefixes what a listing found; returns those that are frozen no more. */
  List<String> listed(Set<String> prefixes) {
    List<String> gone = frozen.keySet().stream().filter(p -> !prefixes.contains(p)).toList();
    gone.forEach(this::vanished);
    prefixes.forEach(this::appeared);
    return gone;
  }
}
