package io.lockkeeper.server.zookeeper.client;

import io.lockkeeper.server.coordinator.api.StoreHealth;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is wrong with nodes in ZooKeeper, each thing told to the operator once: those that cannot be
 * understood and are left alone, those that cannot be written, and whether ZooKeeper lets us use
 * what is ours. Lives on the store's thread; {@link #health} may be asked on any.
 */
public final class StoreProblems {

  /** How many paths are remembered of each sort: what comes after them is not logged. */
  static final int MAX_PATHS = 1_000;

  static final int MAX_UNLISTED = 100_000;
  private static final int MAX_SHOWN = 300;
  private static final Logger LOG = LoggerFactory.getLogger(StoreProblems.class);

  private final Set<String> foreign = new HashSet<>();
  private final Set<String> told = new HashSet<>();
  private final Set<String> unlisted = new HashSet<>();
  private final Map<String, String> unwritable = new LinkedHashMap<>();
  private Optional<String> refusal = Optional.empty();
  private volatile StoreHealth health = StoreHealth.WELL;

  /** Takes note of a node that is left alone, because it is {@code what}. */
  public void foreign(String path, String what) {
    if (foreign.size() < MAX_PATHS && foreign.add(path)) {
      LOG.atWarn().addKeyValue("path", printable(path)).log("leaving a node alone: {}", what);
    }
  }

  /** Takes note that something in a directory cannot be written or deleted. */
  public void unwritable(String directory, String path, int code) {
    if (unwritable.containsKey(directory) || unwritable.size() >= MAX_PATHS) {
      return;
    }
    String what = printable(path) + " (" + ResultCode.name(code) + ")";
    unwritable.put(directory, what);
    update();
    if (told.size() < MAX_PATHS && told.add(directory)) {
      LOG.atWarn()
          .addKeyValue("path", printable(path))
          .addKeyValue("error", ResultCode.name(code))
          .log("a node in ZooKeeper can be neither written nor deleted, trying on");
    }
  }

  /** Takes note whether a directory could be listed: nobody can tell who is in one that cannot. */
  public void listed(String directory, boolean done) {
    if (!done && unlisted.size() < MAX_UNLISTED) {
      unlisted.add(directory);
    } else if (done && unlisted.remove(directory)) {
      written(directory);
    }
  }

  /** Returns the directories that could not be listed the last time, as many as are remembered. */
  public List<String> unlisted() {
    return List.copyOf(unlisted);
  }

  /**
   * Returns whether a directory could not be listed the last time. Where there are more of them
   * than are remembered, it may be any.
   */
  public boolean isUnlisted(String directory) {
    return unlisted.size() >= MAX_UNLISTED || unlisted.contains(directory);
  }

  /** Returns whether there is a directory that could not be listed the last time. */
  public boolean hasUnlisted() {
    return !unlisted.isEmpty();
  }

  /** Returns whether anything is known to be unwritable. */
  public boolean hasUnwritable() {
    return !unwritable.isEmpty();
  }

  /** Takes note that something in a directory was written or deleted. */
  public void written(String directory) {
    if (unwritable.remove(directory) != null) {
      update();
    }
  }

  /** Takes note that ZooKeeper does not let us use what is ours; says why, once. */
  public void accessRefused(String why) {
    if (!refusal.equals(Optional.of(why))) {
      refusal = Optional.of(why);
      update();
      LOG.atError().log("ZooKeeper does not let us serve, trying on: {}", why);
    }
  }

  /** Takes note that ZooKeeper lets us use what is ours. */
  public void accessGranted() {
    if (refusal.isPresent()) {
      refusal = Optional.empty();
      update();
      LOG.atInfo().log("ZooKeeper lets us serve again");
    }
  }

  /** Returns whether ZooKeeper does not let us use what is ours, as far as is known. */
  public boolean isRefused() {
    return refusal.isPresent();
  }

  private void update() {
    health = new StoreHealth(refusal, unwritable.size(), unwritable.values().stream().findFirst());
  }

  /** Returns what is wrong now. */
  public StoreHealth health() {
    return health;
  }

  /** Names of nodes may be made to deceive whoever reads a log. */
  private static String printable(String path) {
    StringBuilder text = new StringBuilder();
    path.codePoints()
        .limit(MAX_SHOWN)
        .forEach(
            c -> {
              if (c < ' ' || c > '~') {
                text.append(String.format("\\u{%x}", c));
              } else {
                text.appendCodePoint(c);
              }
            });
    return text.toString();
  }
}
