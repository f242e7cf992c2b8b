package io.lockkeeper.server.rpc.wire;

import io.lockkeeper.server.core.lock.Kind;
import io.lockkeeper.server.core.lock.Kinds;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.lock.PermitsKind;
import io.lockkeeper.server.core.lock.PermitsKind.Permits;
import io.lockkeeper.server.core.lock.ReadWriteKind;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockRequest;
import java.util.regex.Pattern;

/** Translates modes between the contract and the core. */
final class Modes {

  // What a client names ends up in the name of a znode.
  private static final Pattern CUSTOM = Pattern.compile("[A-Za-z0-9._-]{1,64}");

  // Markers end with it, since a sequence number follows; people do not.
  private static final String SEPARATOR = "-";

  private Modes() {}

  /**
   * Returns the mode that a request asks for.
   *
   * @param path the path of the lock in the request, such as {@code locks[0]}
   */
  static Mode toMode(String path, LockRequest lock) {
    if (lock.getMode() != LockMode.LOCK_MODE_PERMITS) {
      refuseIf(lock.getPermits() != 0, path + ".permits", LockMode.LOCK_MODE_PERMITS);
      refuseIf(lock.getLimit() != 0, path + ".limit", LockMode.LOCK_MODE_PERMITS);
    }
    if (lock.getMode() != LockMode.LOCK_MODE_CUSTOM) {
      refuseIf(!lock.getCustom().isEmpty(), path + ".custom", LockMode.LOCK_MODE_CUSTOM);
    }
    return switch (lock.getMode()) {
      case LOCK_MODE_UNSPECIFIED, LOCK_MODE_EXCLUSIVE -> MutexKind.EXCLUSIVE;
      case LOCK_MODE_READ -> ReadWriteKind.READ;
      case LOCK_MODE_WRITE -> ReadWriteKind.WRITE;
      case LOCK_MODE_PERMITS -> permits(path, lock.getPermits(), lock.getLimit());
      case LOCK_MODE_CUSTOM -> custom(path + ".custom", lock.getCustom());
      case UNRECOGNIZED ->
          throw Fields.invalid(path + ".mode", "is not a LockMode: " + lock.getModeValue());
    };
  }

  private static void refuseIf(boolean set, String field, LockMode only) {
    if (set) {
      throw Fields.invalid(field, "must be unset unless the mode is " + only);
    }
  }

  private static Mode permits(String path, int permits, int limit) {
    Fields.number(path + ".limit", limit, PermitsKind.AS_CONFIGURED, PermitsKind.MAX_LIMIT);
    boolean named = limit != PermitsKind.AS_CONFIGURED;
    int most = named ? limit : PermitsKind.MAX_LIMIT;
    if (permits < 1 || permits > most) {
      throw Fields.invalid(
          path + ".permits",
          "must be 1 to " + (named ? "the limit (" + most + ")" : most) + ", is " + permits);
    }
    return new Permits(permits, limit);
  }

  private static Mode custom(String field, String name) {
    if (!CUSTOM.matcher(name).matches()) {
      throw Fields.invalid(
          field,
          "must be 1 to 64 of the characters A-Z a-z 0-9 . _ - where the mode is "
              + LockMode.LOCK_MODE_CUSTOM
              + ": "
              + QuotedInput.of(name));
    }
    Mode mode =
        Kinds.parse(name)
            .or(() -> Kinds.parse(name + SEPARATOR))
            .orElseThrow(
                () ->
                    Fields.invalid(
                        field, "is of no kind that this server knows: " + QuotedInput.of(name)));
    if (toLockMode(mode) != LockMode.LOCK_MODE_CUSTOM) {
      throw Fields.invalid(
          field,
          "must not be what "
              + toLockMode(mode)
              + " stands for: ask for that: "
              + QuotedInput.of(name));
    }
    return mode;
  }

  /** Returns what the contract calls a mode. */
  static LockMode toLockMode(Mode mode) {
    Kind kind = mode.kind();
    if (kind instanceof MutexKind) {
      return LockMode.LOCK_MODE_EXCLUSIVE;
    }
    if (kind instanceof ReadWriteKind) {
      return mode.equals(ReadWriteKind.READ) ? LockMode.LOCK_MODE_READ : LockMode.LOCK_MODE_WRITE;
    }
    return kind instanceof PermitsKind ? LockMode.LOCK_MODE_PERMITS : LockMode.LOCK_MODE_CUSTOM;
  }

  /** Says in a contender's message what it asks of the lock. */
  static void describe(Mode mode, Contender.Builder contender) {
    LockMode named = toLockMode(mode);
    contender.setMode(named);
    if (mode instanceof Permits permits) {
      contender.setPermits(permits.permits()).setLimit(permits.limit());
    } else if (named == LockMode.LOCK_MODE_CUSTOM) {
      contender.setCustom(toCustom(mode));
    }
  }

  /** Returns the name by which a request can ask for the mode. */
  private static String toCustom(Mode mode) {
    String marker = mode.marker();
    return marker.endsWith(SEPARATOR) ? marker.substring(0, marker.length() - 1) : marker;
  }
}
