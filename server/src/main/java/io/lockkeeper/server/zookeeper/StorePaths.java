package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.core.EntryName;
import io.lockkeeper.server.core.LeaseId;
import io.lockkeeper.server.core.LockName;
import io.lockkeeper.server.core.MarkerName;
import io.lockkeeper.server.core.Mode;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;

/** Where everything is in ZooKeeper. */
final class StorePaths {

  /** How many characters ZooKeeper appends to a sequential node's name. */
  static final int SEQUENCE_CHARS = 10;

  private static final int LEASE_CHARS = 32;
  // A closing session's transaction lists each path behind its length.
  private static final int LENGTH_BYTES = 4;

  private final ZooKeeperSettings settings;
  private final String insideLocks;

  StorePaths(ZooKeeperSettings settings) {
    this.settings = settings;
    insideLocks = settings.locksPath() + "/";
  }

  String locks() {
    return settings.locksPath();
  }

  String leases() {
    return settings.rootPath() + "/leases";
  }

  String sessions() {
    return settings.rootPath() + "/sessions";
  }

  String coordinators() {
    return settings.rootPath() + "/coordinators";
  }

  String directory(LockName lock) {
    return insideLocks.concat(lock.encoded());
  }

  String entry(LockName lock, String entry) {
    return insideLocks + lock.encoded() + "/" + entry;
  }

  /** Returns the path of an entry as far as it is known before it is created. */
  String entryPrefix(LockName lock, UUID id, Mode mode) {
    return entry(lock, EntryName.prefix(id, mode));
  }

  /** Returns the path of an entry that is placed at a sequence number of its own choice. */
  String entryAt(LockName lock, UUID id, Mode mode, int sequence) {
    return entryPrefix(lock, id, mode) + EntryName.suffix(sequence);
  }

  String marker(LockName lock, MarkerName marker) {
    return directory(lock) + "/" + marker.text();
  }

  String lease(LeaseId lease) {
    return leases() + "/" + lease;
  }

  String claim(long sessionId) {
    return sessions() + "/" + claimName(sessionId);
  }

  String claim(String claimName) {
    return sessions() + "/" + claimName;
  }

  static String claimName(long sessionId) {
    return String.format("%016x", sessionId);
  }

  static boolean isClaimName(String name) {
    return name.matches("[0-9a-f]{16}");
  }

  String member() {
    return coordinators() + "/" + settings.coordinatorId();
  }

  /** Returns every node that must exist before anything else, parents first. */
  List<String> layout() {
    return java.util.stream.Stream.of(locks(), leases(), sessions(), coordinators())
        .flatMap(path -> prefixes(path).stream())
        .distinct()
        .toList();
  }

  private static List<String> prefixes(String path) {
    List<String> prefixes = new java.util.ArrayList<>();
    for (int slash = path.indexOf('/', 1); slash > 0; slash = path.indexOf('/', slash + 1)) {
      prefixes.add(path.substring(0, slash));
    }
    prefixes.add(path);
    return prefixes;
  }

  int pathBytes(LockName lock, Mode mode) {
    int directory = insideLocks.length() + lock.encoded().length() + 1;
    return directory + EntryName.prefixLength(mode) + SEQUENCE_CHARS + LENGTH_BYTES;
  }

  int leasePathBytes() {
    return leases().length() + 1 + LEASE_CHARS + LENGTH_BYTES;
  }

  /**
   * Returns what the path of an event below the locks path names, or empty if it is nothing of
   * ours.
   */
  Optional<Place> place(String path) {
    return place(path, LockName::decode);
  }

  /** As {@link #place(String)}, where {@code lockOf} tells the lock of a directory's znode name. */
  Optional<Place> place(String path, Function<String, Optional<LockName>> lockOf) {
    String locks = locks();
    int start = locks.length() + 1;
    if (path.length() < start || !path.startsWith(locks) || path.charAt(start - 1) != '/') {
      return Optional.empty();
    }
    int slash = path.indexOf('/', start);
    if (slash < 0) {
      return lockOf.apply(path.substring(start)).map(Place.Directory::new);
    }
    String child = path.substring(slash + 1);
    return lockOf.apply(path.substring(start, slash)).flatMap(lock -> place(lock, child));
  }

  private static Optional<Place> place(LockName lock, String child) {
    Optional<Place> marked = MarkerName.parse(child).map(m -> new Place.Marked(lock, m));
    return marked.isPresent()
        ? marked
        : EntryName.parse(child).map(entry -> new Place.Queued(lock, entry));
  }
}
