package io.lockkeeper.cli;

import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.LockState;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Says in words who holds a lock and who waits. */
final class LockText {

  private LockText() {}

  /** Returns who the contender is: what it calls itself, else what is known of it. */
  static String who(Contender contender) {
    if (!contender.getHolder().isEmpty()) {
      return Text.plain(contender.getHolder());
    }
    return contender.getLeaseTag().isEmpty()
        ? "(not a Lockkeeper client)"
        : "(lease " + Text.plain(contender.getLeaseTag()) + ")";
  }

  /** Returns all of them, or a dash. */
  static String who(List<Contender> contenders) {
    return contenders.isEmpty()
        ? "-"
        : contenders.stream().map(LockText::who).collect(Collectors.joining(", "));
  }

  /** Returns how long the first holder has held the lock, or a dash. */
  static String heldFor(LockState lock) {
    return lock.getHoldersCount() == 0 ? "-" : Text.age(lock.getHolders(0).getHeldFor());
  }

  /** Returns the first holder's token, or a dash. */
  static String token(LockState lock) {
    return lock.getHoldersCount() == 0 ? "-" : token(lock.getHolders(0));
  }

  /** Returns the token, or a dash where it is not known. */
  static String token(Contender contender) {
    return contender.getFencingToken() == 0 ? "-" : Long.toString(contender.getFencingToken());
  }

  /** Returns what the contender says of itself, in order of the keys, or a dash. */
  static String metadata(Contender contender) {
    return contender.getMetadataCount() == 0
        ? "-"
        : contender.getMetadataMap().entrySet().stream()
            .sorted(Map.Entry.comparingByKey())
            .map(entry -> Text.plain(entry.getKey()) + "=" + Text.plain(entry.getValue()))
            .collect(Collectors.joining(" "));
  }
}
