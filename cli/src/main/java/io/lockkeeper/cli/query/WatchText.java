package io.lockkeeper.cli.query;

import io.lockkeeper.cli.text.LockText;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.v1.ChangeCause;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.LockChange;
import io.lockkeeper.v1.LockState;
import io.lockkeeper.v1.WatchResponse;
import java.util.Locale;

/** Says in words what a watch sees. */
final class WatchText {

  private static final String CAUSE_PREFIX = "CHANGE_CAUSE_";

  private WatchText() {}

  /** Returns an event on one line. */
  static String line(WatchResponse event) {
    return switch (event.getEventCase()) {
      case SNAPSHOT -> snapshot(event.getSnapshot());
      case SNAPSHOT_END -> "-- that is all in use now; changes follow";
      case CHANGE -> change(event.getChange());
      case GAP ->
          "-- changes were missed ("
              + Text.plain(event.getGap().getReason())
              + "); all in use again:";
      case HEARTBEAT, EVENT_NOT_SET -> "-- an event that this program does not know";
    };
  }

  private static String snapshot(LockState lock) {
    return Text.plain(lock.getName())
        + "  held by "
        + LockText.holders(lock.getHoldersList())
        + waiting(lock.getQueueLength())
        + (lock.getConfiguredLimit() > 0 ? ", limit " + lock.getConfiguredLimit() : "")
        + (lock.hasDelayedFor() ? ", next grant in " + Text.age(lock.getDelayedFor()) : "");
  }

  private static String change(LockChange change) {
    return Text.plain(change.getName())
        + "  "
        + (change.getCoalesced() > 1 ? change.getCoalesced() + " changes" : cause(change))
        + "; now "
        + (change.getHoldersCount() == 0
            ? "free"
            : "held by " + LockText.holders(change.getHoldersList()))
        + waiting(change.getQueueLength());
  }

  private static String cause(LockChange change) {
    String cause =
        change
            .getCause()
            .name()
            .replace(CAUSE_PREFIX, "")
            .replace('_', ' ')
            .toLowerCase(Locale.ROOT);
    if (!change.hasContender()) {
      return cause;
    }
    Contender contender = change.getContender();
    boolean says =
        change.getCause() == ChangeCause.CHANGE_CAUSE_METADATA && contender.getMetadataCount() > 0;
    return cause
        + ": "
        + LockText.holder(contender)
        + (says ? ", " + LockText.metadata(contender) : "");
  }

  private static String waiting(int queueLength) {
    return queueLength == 0 ? "" : ", " + queueLength + " waiting";
  }
}
