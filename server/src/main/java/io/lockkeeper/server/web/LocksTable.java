package io.lockkeeper.server.web;

import static io.lockkeeper.server.web.Html.age;
import static io.lockkeeper.server.web.Html.escaped;
import static io.lockkeeper.server.web.Html.number;

import io.lockkeeper.server.core.api.Contender;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.lock.PermitsKind.Permits;
import io.lockkeeper.server.core.lock.ReadWriteKind;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/** The part of the status page that shows locks: who holds them, how, and what is waited for. */
final class LocksTable {

  /** How many locks are shown at most. */
  static final int MAX_LOCKS = 50;

  private static final int MAX_HOLDERS = 5;

  private LocksTable() {}

  /** Adds the table; {@code locks} are empty where they cannot be told, and may be one too many. */
  static void append(StringBuilder page, Optional<List<LockView>> locks) {
    page.append("<h2>Locks</h2>\n<table>\n<tr><th>Lock</th><th>Held by</th>")
        .append("<th>Waiting</th><th>Next grant</th></tr>\n");
    if (locks.isEmpty()) {
      note(page, "not known: the mirror of the queues is not whole, or the coordinator is busy");
    } else {
      locks.get().stream().limit(MAX_LOCKS).forEach(lock -> row(page, lock));
      if (locks.get().isEmpty()) {
        note(page, "none in use");
      } else if (locks.get().size() > MAX_LOCKS) {
        note(page, "… and more");
      }
    }
    page.append("</table>\n");
  }

  private static void note(StringBuilder page, String text) {
    page.append("<tr><td colspan=\"4\">").append(escaped(text)).append("</td></tr>\n");
  }

  private static void row(StringBuilder page, LockView lock) {
    page.append("<tr><td>")
        .append(escaped(lock.lock().value()))
        .append("</td><td>")
        .append(holders(lock))
        .append("</td><td class=\"n\">")
        .append(number(lock.queueLength()))
        .append("</td><td>")
        .append(lock.delayedForNanos().map(nanos -> "in " + age(nanos)).orElse(""))
        .append("</td></tr>\n");
  }

  private static String holders(LockView lock) {
    String shown =
        lock.holders().stream()
            .limit(MAX_HOLDERS)
            .map(holder -> escaped(inWords(holder, lock.configuredLimit())))
            .collect(Collectors.joining("<br>"));
    int more = lock.holders().size() - MAX_HOLDERS;
    return more > 0 ? shown + "<br>and " + number(more) + " more" : shown;
  }

  /** Returns who holds the lock and how: {@code shop-1, 3 of 5 permits for 13 s, needs 40 s}. */
  private static String inWords(Contender holder, OptionalInt configuredLimit) {
    String who = holder.holder().isEmpty() ? "(somebody)" : holder.holder();
    return who
        + ", "
        + inWords(holder.mode(), configuredLimit)
        + holder.heldForNanos().map(nanos -> " for " + age(nanos)).orElse("")
        + holder.needsNanos().map(nanos -> ", needs " + age(nanos)).orElse("");
  }

  private static String inWords(Mode mode, OptionalInt configuredLimit) {
    if (mode instanceof Permits permits) {
      return permits.permits() + " of " + configuredLimit.orElse(permits.limit()) + " permits";
    }
    boolean ours = mode.kind() instanceof MutexKind || mode.kind() instanceof ReadWriteKind;
    return ours ? mode.toString() : mode.marker().replaceFirst("-$", "");
  }
}
