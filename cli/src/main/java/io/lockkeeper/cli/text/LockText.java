package io.lockkeeper.cli.text;

import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.Frozen;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Says in words who holds a lock and how, and who waits. */
public final class LockText {

  /** What stands where there is nothing to say. */
  public static final String NONE = "-";

  private static final String PURPOSE = "purpose";
  private static final String TRACE = "traceparent";

  private LockText() {}

  /** Returns a prefix of names, where none means all. */
  public static String prefix(String prefix) {
    return prefix.isEmpty() ? "(all locks)" : Text.plain(prefix);
  }

  /** Returns why a lock is frozen: {@code frozen: migration}. */
  public static String frozen(Frozen frozen) {
    return "frozen"
        + (frozen.getReason().isEmpty() ? "" : ": " + Text.plain(frozen.getReason()))
        + (frozen.hasThawsIn() ? " (thaws in " + Text.age(frozen.getThawsIn()) + ")" : "");
  }

  /** Returns who the contender is: what it calls itself, else what is known of it. */
  public static String who(Contender contender) {
    if (!contender.getHolder().isEmpty()) {
      return Text.plain(contender.getHolder());
    }
    return contender.getLeaseTag().isEmpty()
        ? "(not a Lockkeeper client)"
        : "(lease " + Text.plain(contender.getLeaseTag()) + ")";
  }

  /** Returns all of them, or a dash. */
  public static String who(List<Contender> contenders) {
    return contenders.isEmpty()
        ? NONE
        : contenders.stream().map(LockText::who).collect(Collectors.joining(", "));
  }

  /** Returns who holds the lock, or when it is granted next, and why it is frozen if it is. */
  public static String heldBy(LockState lock) {
    String who =
        lock.getHoldersCount() == 0 && lock.hasDelayedFor()
            ? "(next grant in " + Text.age(lock.getDelayedFor()) + ")"
            : who(lock.getHoldersList());
    return lock.hasFrozen() ? who + " (" + frozen(lock.getFrozen()) + ")" : who;
  }

  /** Returns what the first holder holds the lock for, or a dash. */
  public static String purpose(LockState lock) {
    String purpose =
        lock.getHoldersCount() == 0 ? "" : purpose(lock.getHolders(0).getMetadataMap());
    return purpose.isEmpty() ? NONE : Text.shortened(purpose, 40);
  }

  /** Returns all of them with what is not usual about their holds, or a dash. */
  public static String holders(List<Contender> contenders) {
    return contenders.isEmpty()
        ? NONE
        : contenders.stream().map(LockText::holder).collect(Collectors.joining(", "));
  }

  /** Returns who it is: {@code alice@ci (read, needs 5 s)}. */
  public static String holder(Contender contender) {
    List<String> details = new ArrayList<>();
    if (contender.getMode() != LockMode.LOCK_MODE_EXCLUSIVE) {
      details.add(mode(contender, contender.getLimit()));
    }
    if (contender.hasReleaseIn()) {
      details.add("needs " + Text.age(contender.getReleaseIn()));
    }
    return who(contender) + (details.isEmpty() ? "" : " (" + String.join(", ", details) + ")");
  }

  /** Returns the kind of hold, such as {@code read}, or {@code 3 of 5 permits}. */
  public static String mode(Contender contender, LockState lock) {
    return mode(contender, limit(contender, lock));
  }

  private static String mode(Contender contender, int limit) {
    return switch (contender.getMode()) {
      case LOCK_MODE_EXCLUSIVE -> "exclusive";
      case LOCK_MODE_READ -> "read";
      case LOCK_MODE_WRITE -> "write";
      case LOCK_MODE_PERMITS -> permits(contender.getPermits(), limit);
      case LOCK_MODE_CUSTOM -> Text.plain(contender.getCustom());
      case LOCK_MODE_UNSPECIFIED, UNRECOGNIZED -> "of another kind";
    };
  }

  /**
   * Returns how the lock is held: its permits added up, else as its first holder does; or a dash.
   */
  public static String mode(LockState lock) {
    if (lock.getHoldersCount() == 0) {
      return NONE;
    }
    Contender first = lock.getHolders(0);
    if (first.getMode() != LockMode.LOCK_MODE_PERMITS) {
      return mode(first, lock);
    }
    int taken = lock.getHoldersList().stream().mapToInt(Contender::getPermits).sum();
    return permits(taken, limit(first, lock));
  }

  /** The limit that was configured outranks those that requests name. */
  private static int limit(Contender contender, LockState lock) {
    return lock.getConfiguredLimit() > 0 ? lock.getConfiguredLimit() : contender.getLimit();
  }

  private static String permits(int permits, int limit) {
    return limit == 0 ? permits + " permits" : permits + " of " + limit + " permits";
  }

  /** Returns how long the first holder has held the lock, or a dash. */
  public static String heldFor(LockState lock) {
    return lock.getHoldersCount() == 0 ? NONE : Text.age(lock.getHolders(0).getHeldFor());
  }

  /** Returns the first holder's token, or a dash. */
  public static String token(LockState lock) {
    return lock.getHoldersCount() == 0 ? NONE : token(lock.getHolders(0));
  }

  /** Returns the token, or a dash where it is not known. */
  public static String token(Contender contender) {
    return contender.getFencingToken() == 0 ? NONE : Long.toString(contender.getFencingToken());
  }

  /** Returns for how much longer the holder has said it needs the lock, or a dash. */
  public static String needs(Contender contender) {
    return contender.hasReleaseIn() ? Text.age(contender.getReleaseIn()) : NONE;
  }

  /** Returns the lease, and after a slash the owner inside it if it has a name; or a dash. */
  public static String lease(Contender contender) {
    if (contender.getLeaseTag().isEmpty()) {
      return NONE;
    }
    String owner = contender.getOwner().isEmpty() ? "" : "/" + contender.getOwner();
    return Text.plain(contender.getLeaseTag() + owner);
  }

  /** Returns what the contender says of itself, in order of the keys, or a dash. */
  public static String metadata(Contender contender) {
    return contender.getMetadataCount() == 0 ? NONE : metadata(contender.getMetadataMap());
  }

  private static String metadata(Map<String, String> metadata) {
    return metadata.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .map(entry -> Text.plain(entry.getKey()) + "=" + Text.plain(entry.getValue()))
        .collect(Collectors.joining(" "));
  }

  /**
   * Returns what somebody holds a lock for: his purpose, else what else he says of himself, but not
   * in which trace; or nothing.
   */
  public static String purpose(Map<String, String> metadata) {
    String purpose = metadata.get(PURPOSE);
    if (purpose != null) {
      return Text.plain(purpose);
    }
    Map<String, String> said = new HashMap<>(metadata);
    said.remove(TRACE);
    return metadata(said);
  }
}
