package io.lockkeeper.server.zookeeper.record;

import io.lockkeeper.server.core.api.Promises;
import java.time.Duration;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/**
 * Whose a lock session is: the data of its claim record, with all that a peer needs to attach to
 * the session. The node's version is the epoch of the claim.
 *
 * @param owner the coordinator's id
 * @param home what the coordinators that run one after the other on a data directory have in
 *     common; may be empty
 * @param session the session
 * @param timeoutMillis the timeout with which the session was opened. It stays, whoever adopts the
 *     session: a new leader of ZooKeeper goes back to it
 * @param epoch how often the session was adopted, human-readable and to know one's own record again
 * @param alone whether all who owned the session before are dead for certain
 * @param format the newest format of all who ever owned the session: what they have left on it may
 *     be of that format
 * @param promises what the owner has promised to clients, if it left in good order
 */
public record ClaimRecord(
    String owner,
    String home,
    SessionIdentity session,
    long timeoutMillis,
    long epoch,
    boolean alone,
    int format,
    Optional<Promises> promises) {

  /** No session of ours has a longer timeout. */
  private static final long MAX_TIMEOUT_MILLIS = 3_600_000;

  /** As many adoptions as a node has versions. */
  private static final long MAX_EPOCH = 0xffff_ffffL;

  /** Longer than any lease lives without a keep-alive. */
  private static final long MAX_PROMISE_MILLIS = Duration.ofDays(2).toMillis();

  /** With all else it is less than peers read of a record. */
  private static final int MAX_PROMISES_BYTES = 15 << 10;

  /** A number as long as any, quotation marks, a colon and a comma. */
  private static final int MAX_MILLIS_BYTES = 13;

  private static final Pattern UUID_TEXT =
      Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

  private static final int MAX_PASSWORD_CHARS = 128;

  /** Makes the record of a new session. */
  public ClaimRecord(
      String owner,
      String home,
      SessionIdentity session,
      long timeoutMillis,
      long epoch,
      boolean alone) {
    this(owner, home, session, timeoutMillis, epoch, alone, RecordFormat.CURRENT, Optional.empty());
  }

  /**
   * Returns whether everybody who ever owned the session is dead for certain, as seen from a
   * coordinator: the owner ran at the same home before it, and nobody is left from before that.
   */
  public boolean isLeftBehind(String coordinatorId, String itsHome) {
    return isPredecessor(coordinatorId, itsHome) && alone;
  }

  /** Returns whether the owner ran at the same home before that coordinator, and so is dead. */
  public boolean isPredecessor(String coordinatorId, String itsHome) {
    return !home.isEmpty() && home.equals(itsHome) && !owner.equals(coordinatorId);
  }

  /** Returns the record of one who adopts the session. */
  public ClaimRecord by(String newOwner, String newHome) {
    return new ClaimRecord(
        newOwner,
        newHome,
        session,
        timeoutMillis,
        epoch + 1,
        isLeftBehind(newOwner, newHome),
        Math.max(format, RecordFormat.CURRENT),
        Optional.empty());
  }

  /** Returns the record of its owner that leaves in good order. */
  public ClaimRecord leaving(Promises promised) {
    return new ClaimRecord(
        owner, home, session, timeoutMillis, epoch, alone, format, Optional.of(promised));
  }

  /** Returns the record's data. */
  public byte[] write() {
    Map<String, Object> object = RecordFormat.newRecord(format);
    object.put("owner", owner);
    if (!home.isEmpty()) {
      object.put("home", home);
    }
    object.put("session", StorePaths.claimName(session.id()));
    object.put("password", HexFormat.of().formatHex(session.password()));
    object.put("timeoutMillis", timeoutMillis);
    object.put("epoch", epoch);
    if (alone) {
      object.put("alone", true);
    }
    promises.ifPresent(promised -> object.put("promises", write(promised)));
    return Json.write(object);
  }

  /** Reads the record of that name; empty if it is not one by which a session can be attached. */
  public static Optional<ClaimRecord> read(String name, byte[] data) {
    return Json.readRecord(data)
        .filter(object -> !Json.text(object, "owner").isEmpty())
        .filter(object -> isTimeout(Json.number(object, "timeoutMillis")))
        .filter(object -> isEpoch(Json.number(object, "epoch")))
        .flatMap(
            object ->
                session(name, object)
                    .map(
                        session ->
                            new ClaimRecord(
                                Json.text(object, "owner"),
                                Json.text(object, "home"),
                                session,
                                Json.number(object, "timeoutMillis"),
                                Json.number(object, "epoch"),
                                object.path("alone").asBoolean(false),
                                RecordFormat.of(object),
                                promises(object.path("promises")))));
  }

  private static Map<String, Map<String, Long>> write(Promises promised) {
    Map<String, Long> leases = millis(promised.leases(), MAX_PROMISES_BYTES);
    int left = MAX_PROMISES_BYTES - Json.write(leases).length;
    return Map.of("leases", leases, "waiters", millis(promised.waiters(), left));
  }

  /**
   * Returns durations in whole milliseconds, never less than they were. If not all fit, the longest
   * are left out: what has no promise gets the grace that follows a crash.
   */
  private static Map<String, Long> millis(Map<?, Duration> durations, int bytes) {
    Map<String, Long> millis = new TreeMap<>();
    int left = bytes;
    for (var promise :
        durations.entrySet().stream().sorted(Map.Entry.comparingByValue()).toList()) {
      String key = promise.getKey().toString();
      left -= key.length() + MAX_MILLIS_BYTES;
      if (left >= 0) {
        millis.put(key, Json.millis(promise.getValue()) + 1);
      }
    }
    return millis;
  }

  private static Optional<Promises> promises(JsonNode object) {
    if (!object.isObject()) {
      return Optional.empty();
    }
    Map<UUID, Duration> waiters = new HashMap<>();
    durations(object.path("waiters"))
        .forEach(
            (key, left) ->
                Optional.of(key)
                    .filter(UUID_TEXT.asMatchPredicate())
                    .ifPresent(id -> waiters.put(UUID.fromString(id), left)));
    return Optional.of(new Promises(durations(object.path("leases")), waiters));
  }

  private static Map<String, Duration> durations(JsonNode object) {
    Map<String, Duration> durations = new HashMap<>();
    for (String key : object.propertyNames()) {
      Json.natural(object, key)
          .filter(millis -> millis <= MAX_PROMISE_MILLIS)
          .ifPresent(millis -> durations.put(key, Duration.ofMillis(millis)));
    }
    return durations;
  }

  private static boolean isTimeout(long millis) {
    return millis > 0 && millis <= MAX_TIMEOUT_MILLIS;
  }

  private static boolean isEpoch(long number) {
    return number >= 0 && number <= MAX_EPOCH;
  }

  private static Optional<SessionIdentity> session(String name, JsonNode object) {
    String password = Json.text(object, "password");
    boolean readable =
        password.length() <= MAX_PASSWORD_CHARS && password.matches("([0-9a-f]{2})+");
    return readable && StorePaths.isClaimName(name) && name.equals(Json.text(object, "session"))
        ? Optional.of(
            new SessionIdentity(
                Long.parseUnsignedLong(name, 16), HexFormat.of().parseHex(password)))
        : Optional.empty();
  }
}
