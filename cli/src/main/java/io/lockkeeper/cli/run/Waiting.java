package io.lockkeeper.cli.run;

import io.lockkeeper.cli.shell.Terminal;
import io.lockkeeper.cli.text.LockText;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.client.Contender;
import io.lockkeeper.client.QueuePlace;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Says on standard error what is being waited for: a line that keeps up on a terminal, else one
 * line in all.
 */
final class Waiting implements AutoCloseable {

  private static final String ERASE = "\r\u001b[K";

  /** For a terminal that has been made narrower: a line that wraps could not be erased. */
  private static final String NO_WRAP = "\u001b[?7l";

  private static final String WRAP = "\u001b[?7h";
  private static final int MAX_NAME = 30;

  private final PrintWriter err;
  private final boolean terminal;
  private final Words words;
  private final ScheduledExecutorService ticker =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "waiting-line");
            thread.setDaemon(true);
            return thread;
          });
  private String place = "";
  private List<Contender> holders = List.of();
  private long heardNanos;
  private int columns;
  private boolean shown;
  private boolean closed;

  /**
   * How it is spoken of that something is waited for and held.
   *
   * @param waiting before the name of what is waited for
   * @param held before those who have it
   * @param holding before the name of what we hold
   * @param released before the name of what we have given back
   * @param lost that it is lost
   */
  record Words(String waiting, String held, String holding, String released, String lost) {

    /** Of locks. */
    static final Words LOCK =
        new Words("waiting for", "held by", "holding", "released", "the lock is lost");

    /** Of leaders. */
    static final Words LEADER =
        new Words(
            "waiting to lead", "led by", "leading", "resigned from", "the leadership is lost");
  }

  /** Prints to {@code err}; on a terminal, once a second. */
  Waiting(PrintWriter err, boolean terminal, Words words) {
    this.err = err;
    this.terminal = terminal;
    this.words = words;
    if (terminal) {
      ScheduledFuture<?> unused =
          ticker.scheduleWithFixedDelay(this::refresh, 1, 1, TimeUnit.SECONDS);
    }
  }

  /** Takes note of where we stand: one place for each lock that is waited for, one at least. */
  synchronized void onQueued(List<QueuePlace> places) {
    QueuePlace first = places.get(0);
    int others = places.size() - 1;
    String name = Text.plain(first.lock());
    place =
        words.waiting()
            + " "
            + (terminal ? Text.shortened(name, MAX_NAME) : name)
            + (others == 0 ? "" : " and " + others + " more")
            + ", "
            + first.ahead()
            + " ahead"
            + places.stream()
                .flatMap(p -> p.frozen().stream())
                .findFirst()
                .map(Waiting::frozen)
                .orElse("");
    holders = first.holders();
    heardNanos = System.nanoTime();
    if (terminal) {
      refresh();
    } else if (!shown && !closed) {
      shown = true;
      err.println("lockkeeper: " + text());
      err.flush();
    }
  }

  private synchronized void refresh() {
    if (!closed && !place.isEmpty()) {
      if (!shown) {
        columns = Terminal.size().columns();
      }
      shown = true;
      err.print(ERASE + NO_WRAP + Text.cut(text(), columns - 1) + WRAP);
      err.flush();
    }
  }

  private String text() {
    if (holders.isEmpty()) {
      return place;
    }
    Duration since = Duration.ofNanos(System.nanoTime() - heardNanos);
    return place
        + ", "
        + words.held()
        + " "
        + holders.stream().map(Waiting::who).collect(Collectors.joining(", "))
        + " for "
        + Text.age(holders.get(0).heldFor().plus(since))
        + holders.get(0).releaseIn().map(left -> needs(left.minus(since))).orElse("")
        + purpose(holders.get(0));
  }

  /** Last, since it is what may be cut. */
  private static String purpose(Contender holder) {
    String purpose = LockText.purpose(holder.metadata());
    return purpose.isEmpty() ? "" : " (" + purpose + ")";
  }

  private static String needs(Duration left) {
    return left.isNegative() ? "" : ", needs it " + Text.age(left) + " more";
  }

  private static String frozen(String reason) {
    return ", frozen" + (reason.isEmpty() ? "" : ": " + Text.plain(reason));
  }

  private static String who(Contender holder) {
    return holder.holder().isEmpty() ? "somebody" : Text.plain(holder.holder());
  }

  /** Wipes the line. */
  @Override
  public synchronized void close() {
    closed = true;
    ticker.shutdownNow();
    if (terminal && shown) {
      err.print(ERASE);
      err.flush();
    }
  }
}
