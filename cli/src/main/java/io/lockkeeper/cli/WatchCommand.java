package io.lockkeeper.cli;

import io.lockkeeper.v1.LockChange;
import io.lockkeeper.v1.LockServiceGrpc.LockServiceBlockingStub;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
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
  private static final int MAX_FAILURES = 30;
  private static final long PAUSE_SECONDS = 2;
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

  private long revision;
  private int failures;

  @Override
  public Integer call() {
    options.prepare();
    Servers servers = new Servers(options);
    while (true) {
      try {
        return servers.stream(this::follow);
      } catch (CliException e) {
        if (e.exitCode() != ExitCodes.UNAVAILABLE || revision == 0 || ++failures > MAX_FAILURES) {
          throw e;
        }
        spec.commandLine().getErr().println("lockkeeper: the server is gone; trying again");
        pause();
      }
    }
  }

  private int follow(LockServiceBlockingStub stub) {
    PrintWriter out = spec.commandLine().getOut();
    Iterator<WatchResponse> events =
        stub.watch(WatchRequest.newBuilder().setPrefix(prefix).setStartRevision(revision).build());
    while (events.hasNext()) {
      WatchResponse event = events.next();
      revision = event.getRevision();
      failures = 0;
      out.println(json ? Json.line(event) : time() + "  " + line(event));
      out.flush();
    }
    return ExitCodes.OK;
  }

  private static void pause() {
    CompletableFuture.runAsync(
            () -> {}, CompletableFuture.delayedExecutor(PAUSE_SECONDS, TimeUnit.SECONDS))
        .join();
  }

  private static String time() {
    return LocalTime.now(ZoneId.systemDefault()).format(TIME);
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
