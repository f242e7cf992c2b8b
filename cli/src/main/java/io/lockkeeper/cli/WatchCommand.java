package io.lockkeeper.cli;

import io.lockkeeper.v1.LockChange;
import io.lockkeeper.v1.LockState;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import java.io.PrintWriter;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Iterator;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints what happens to locks, as it happens. */
@Command(
    name = "watch",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    sortOptions = false,
    description = "Prints the locks in use and then every change, until Ctrl-C.")
final class WatchCommand implements Callable<Integer> {

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("HH:mm:ss.SSS", Locale.ROOT);
  private static final String CAUSE_PREFIX = "CHANGE_CAUSE_";

  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "PREFIX",
      defaultValue = "",
      description = "Only names that begin with this.")
  private String prefix;

  @Option(names = "--json", description = "One JSON object for each event, one to a line.")
  private boolean json;

  @Mixin private ServerOptions options;

  @Override
  public Integer call() {
    options.prepare();
    PrintWriter out = spec.commandLine().getOut();
    WatchRequest request = WatchRequest.newBuilder().setPrefix(prefix).build();
    return new Servers(options)
        .stream(
            stub -> {
              Iterator<WatchResponse> events = stub.watch(request);
              while (events.hasNext()) {
                WatchResponse event = events.next();
                out.println(
                    json
                        ? Json.line(event)
                        : LocalTime.now(ZoneId.systemDefault()).format(TIME) + "  " + line(event));
                out.flush();
              }
              return ExitCodes.OK;
            });
  }

  /** Returns an event in words. */
  static String line(WatchResponse event) {
    return switch (event.getEventCase()) {
      case SNAPSHOT -> snapshot(event.getSnapshot());
      case SNAPSHOT_END -> "-- that is all in use now; changes follow";
      case CHANGE -> change(event.getChange());
      case GAP ->
          "-- changes were missed ("
              + Text.plain(event.getGap().getReason())
              + "); all in use again:";
      case EVENT_NOT_SET -> "-- an event that this program does not know";
    };
  }

  private static String snapshot(LockState lock) {
    return Text.plain(lock.getName())
        + "  held by "
        + LockText.who(lock.getHoldersList())
        + waiting(lock.getQueueLength());
  }

  private static String change(LockChange change) {
    String what =
        change.getCoalesced() > 1
            ? change.getCoalesced() + " changes"
            : change
                .getCause()
                .name()
                .replace(CAUSE_PREFIX, "")
                .replace('_', ' ')
                .toLowerCase(Locale.ROOT);
    return Text.plain(change.getName())
        + "  "
        + what
        + (change.hasContender() ? ": " + LockText.who(change.getContender()) : "")
        + "; now "
        + (change.getHoldersCount() == 0
            ? "free"
            : "held by " + LockText.who(change.getHoldersList()))
        + waiting(change.getQueueLength());
  }

  private static String waiting(int queueLength) {
    return queueLength == 0 ? "" : ", " + queueLength + " waiting";
  }
}
