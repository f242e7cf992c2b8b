package io.lockkeeper.server.web;

import com.samskivert.mustache.Mustache;
import com.samskivert.mustache.Template;
import io.lockkeeper.server.coordinator.api.CoordinatorStatus;
import io.lockkeeper.server.core.api.Contender;
import io.lockkeeper.server.core.api.FreezeView;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.lock.PermitsKind.Permits;
import io.lockkeeper.server.core.lock.ReadWriteKind;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The page that shows how the coordinator is: the template {@code status.html}, and what it shows.
 * One document, no scripts, nothing from elsewhere. The template escapes every value.
 */
final class StatusPage {

  /** How many locks are shown at most. */
  static final int MAX_LOCKS = 50;

  private static final String TEMPLATE = "status.html";
  private static final int MAX_HOLDERS = 5;
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  private final HttpSettings settings;
  private final Template template;

  /**
   * What the template shows.
   *
   * @param coordinatorId who the coordinator is
   * @param version its version
   * @param insecure whether others are served although nobody is asked who he is
   * @param readiness whether it serves, and why not
   * @param locks some of the locks in use
   * @param locksNote what is to be said of the locks that are not shown; empty for nothing
   * @param counts numbers
   * @param sessions the lock sessions
   */
  private record Shown(
      String coordinatorId,
      String version,
      boolean insecure,
      Readiness readiness,
      List<Lock> locks,
      String locksNote,
      List<Figure> counts,
      List<Session> sessions) {}

  private record Lock(String name, List<String> holders, String waiting, String nextGrant) {}

  private record Figure(String label, String value) {
    Figure(String label, long value) {
      this(label, number(value));
    }
  }

  private record Session(
      String name,
      String connected,
      String provenAlive,
      String leases,
      String pathBytes,
      String pathBytesCap) {}

  StatusPage(HttpSettings settings) {
    this.settings = settings;
    try (InputStream file =
        Objects.requireNonNull(StatusPage.class.getResourceAsStream(TEMPLATE), TEMPLATE)) {
      String text = new String(file.readAllBytes(), StandardCharsets.UTF_8);
      this.template = Mustache.compiler().emptyStringIsFalse(true).compile(text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Returns the page for {@code status}.
   *
   * @param locks may be one too many; empty where they cannot be told
   */
  String render(CoordinatorStatus status, Readiness readiness, Optional<List<LockView>> locks) {
    return template.execute(
        new Shown(
            settings.coordinatorId(),
            settings.version(),
            settings.insecure() && settings.locksForAll(),
            readiness,
            locks.orElse(List.of()).stream().limit(MAX_LOCKS).map(StatusPage::lock).toList(),
            locks
                .map(StatusPage::note)
                .orElse(
                    "not known: the mirror of the queues is not whole, or the coordinator is busy"),
            counts(status),
            status.sessions().stream().map(this::session).toList()));
  }

  private static String note(List<LockView> locks) {
    if (locks.isEmpty()) {
      return "none in use";
    }
    return locks.size() > MAX_LOCKS ? "… and more" : "";
  }

  private static Lock lock(LockView lock) {
    List<String> holders = new ArrayList<>();
    lock.holders().stream()
        .limit(MAX_HOLDERS)
        .forEach(holder -> holders.add(inWords(holder, lock.configuredLimit())));
    int more = lock.holders().size() - MAX_HOLDERS;
    if (more > 0) {
      holders.add("and " + number(more) + " more");
    }
    return new Lock(
        Plain.text(lock.lock().value()), holders, number(lock.queueLength()), nextGrant(lock));
  }

  private static String nextGrant(LockView lock) {
    List<String> words = new ArrayList<>();
    lock.frozen().ifPresent(frozen -> words.add(inWords(frozen)));
    lock.delayedForNanos().ifPresent(nanos -> words.add("in " + age(nanos)));
    return String.join(", ", words);
  }

  private static String inWords(FreezeView frozen) {
    String reason = frozen.freeze().reason();
    return "frozen"
        + (reason.isEmpty() ? "" : ": " + Plain.text(reason))
        + frozen.thawsInNanos().map(nanos -> " (thaws in " + age(nanos) + ")").orElse("");
  }

  /** Returns who holds the lock and how: {@code shop-1, 3 of 5 permits for 13 s, needs 40 s}. */
  private static String inWords(Contender holder, OptionalInt configuredLimit) {
    // Curator's Revoker writes over what an entry said of itself.
    String who = holder.holder().isEmpty() ? holder.entry() : holder.holder();
    return Plain.text(who)
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
    return ours ? mode.toString() : Plain.text(mode.marker().replaceFirst("-$", ""));
  }

  private static List<Figure> counts(CoordinatorStatus status) {
    return List.of(
        new Figure("Locks in use", status.locks()),
        new Figure("Entries in the mirror", status.entries()),
        new Figure("Leases", status.leases()),
        new Figure("Acquisitions", status.acquisitions()),
        new Figure("… of them held", status.held()),
        new Figure("Watches", status.watches()),
        new Figure("Deletes owed", status.deletesOwed()),
        new Figure("Event loop delay, µs", status.loopDelayNanos() / 1_000));
  }

  private Session session(CoordinatorStatus.SessionStatus session) {
    return new Session(
        Plain.text(session.name()),
        session.connected() ? "yes" : "no",
        session.provenAlive() ? "yes" : "no",
        number(session.leases()),
        number(session.pathBytes()),
        number(settings.sessionPathBytesCap()));
  }

  /** Returns a number in groups of three digits. */
  static String number(long value) {
    return String.format(Locale.ROOT, "%,d", value);
  }

  /** Returns a time in its largest unit but days: {@code 13 s}, {@code 2 h}. */
  static String age(long nanos) {
    long seconds = Math.max(0, nanos) / NANOS_PER_SECOND;
    if (seconds < 120) {
      return seconds + " s";
    }
    return seconds < 7_200 ? seconds / 60 + " min" : number(seconds / 3_600) + " h";
  }
}
