package io.lockkeeper.server.zookeeper.record;

import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.Mode;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import org.apache.zookeeper.data.ACL;

/** Where everything is in ZooKeeper. */
public final class StorePaths {

  /** How many characters ZooKeeper appends to a sequential node's name. */
  public static final int SEQUENCE_CHARS = 10;

  private static final String FREEZE = "prefix-";
  private static final int SHORT_NAME_BYTES = 6;
  private static final int LEASE_CHARS = 32;
  // A closing session's transaction lists each path behind its length.
  private static final int LENGTH_BYTES = 4;

  private final ZooKeeperSettings settings;
  private final String insideLocks;

  public StorePaths(ZooKeeperSettings settings) {
    this.settings = settings;
    insideLocks = settings.locksPath() + "/";
  }

  /** Returns the access list of every node that we create. */
  public List<ACL> acl() {
    return settings.access().acl();
  }

  /** Returns the node under which everything is, the queues perhaps excepted. */
  public String root() {
    return settings.rootPath();
  }

  /** Returns whether a node of the layout is below our root, or it: nobody else's. */
  public boolean isOurs(String path) {
    return path.equals(root()) || path.startsWith(root() + "/");
  }

  public String locks() {
    return settings.locksPath();
  }

  public String leases() {
    return settings.rootPath() + "/leases";
  }

  public String sessions() {
    return settings.rootPath() + "/sessions";
  }

  public String coordinators() {
    return settings.rootPath() + "/coordinators";
  }

  /** Returns the node under which the frozen prefixes are. */
  public String freezes() {
    return settings.rootPath() + "/freezes";
  }

  /** Returns the node of a frozen prefix, which may be empty. */
  public String freeze(String prefix) {
    return freezes() + "/" + FREEZE + LockName.encodePrefix(prefix);
  }

  /** Returns the prefix that a node below the freezes is named for, if it is one of ours. */
  public Optional<String> frozenPrefix(String path) {
    String start = freezes() + "/" + FREEZE;
    return path.startsWith(start)
        ? LockName.decodePrefix(path.substring(start.length()))
        : Optional.empty();
  }

  public String directory(LockName lock) {
    return insideLocks.concat(lock.encoded());
  }

  public String entry(LockName lock, String entry) {
    return insideLocks + lock.encoded() + "/" + entry;
  }

  /** Returns the path of an entry as far as it is known before it is created. */
  public String entryPrefix(LockName lock, UUID id, Mode mode) {
    return entry(lock, EntryName.prefix(id, mode));
  }

  /** Returns the path of an entry that is placed at a sequence number of its own choice. */
  public String entryAt(LockName lock, UUID id, Mode mode, int sequence) {
    return entryPrefix(lock, id, mode) + EntryName.suffix(sequence);
  }

  public String marker(LockName lock, MarkerName marker) {
    return directory(lock) + "/" + marker.text();
  }

  public String lease(LeaseId lease) {
    return leases() + "/" + lease;
  }

  String claim(long sessionId) {
    return sessions() + "/" + claimName(sessionId);
  }

  public String claim(String claimName) {
    return sessions() + "/" + claimName;
  }

  public static String claimName(long sessionId) {
    return HexFormat.of().toHexDigits(sessionId);
  }

  public static boolean isClaimName(String name) {
    return name.matches("[0-9a-f]{16}");
  }

  /**
   * Returns what to call a claim where others see it: the id of a session is half of what it takes
   * to use it, so it is hashed.
   */
  public static String shortName(String claimName) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(claimName.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(hash, 0, SHORT_NAME_BYTES);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  public String member() {
    return coordinators() + "/" + settings.member().coordinatorId();
  }

  /** Returns the nodes right under which we create and delete. */
  public List<String> parents() {
    return List.of(locks(), leases(), sessions(), coordinators(), freezes());
  }

  /** Returns every node that must exist before anything else, parents first. */
  public List<String> layout() {
    return parents().stream().flatMap(path -> prefixes(path).stream()).distinct().toList();
  }

  private static List<String> prefixes(String path) {
    List<String> prefixes = new java.util.ArrayList<>();
    for (int slash = path.indexOf('/', 1); slash > 0; slash = path.indexOf('/', slash + 1)) {
      prefixes.add(path.substring(0, slash));
    }
    prefixes.add(path);
    return prefixes;
  }

  public int pathBytes(LockName lock, Mode mode) {
    int directory = insideLocks.length() + lock.encoded().length() + 1;
    return directory + EntryName.prefixLength(mode) + SEQUENCE_CHARS + LENGTH_BYTES;
  }

  public int leasePathBytes() {
    return leases().length() + 1 + LEASE_CHARS + LENGTH_BYTES;
  }

  /**
   * Returns what the path of an event below the locks path names, or empty if it is nothing of
   * ours.
   */
  public Optional<ParsedPath> place(String path) {
    return place(path, LockName::decode);
  }

  /** As {@link #place(String)}, where {@code lockOf} tells the lock of a directory's znode name. */
  public Optional<ParsedPath> place(String path, Function<String, Optional<LockName>> lockOf) {
    String locks = locks();
    int start = locks.length() + 1;
    if (path.length() < start || !path.startsWith(locks) || path.charAt(start - 1) != '/') {
      return Optional.empty();
    }
    int slash = path.indexOf('/', start);
    if (slash < 0) {
      return lockOf.apply(path.substring(start)).map(ParsedPath.QueueDirectory::new);
    }
    String child = path.substring(slash + 1);
    return lockOf.apply(path.substring(start, slash)).flatMap(lock -> place(lock, child));
  }

  private static Optional<ParsedPath> place(LockName lock, String child) {
    Optional<ParsedPath> marked = MarkerName.parse(child).map(m -> new ParsedPath.Marked(lock, m));
    return marked.isPresent()
        ? marked
        : EntryName.parse(child).map(entry -> new ParsedPath.QueueEntry(lock, entry));
  }
}
