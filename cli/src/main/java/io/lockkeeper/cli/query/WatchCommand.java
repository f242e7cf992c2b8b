package io.lockkeeper.cli.query;

import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.Json;
import io.lockkeeper.v1.LockServiceGrpc.LockServiceBlockingStub;
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
    versionProvider = Version.class,
    sortOptions = false,
    description = "Prints the locks in use and then every change, until Ctrl-C.")
public final class WatchCommand implements Callable<Integer> {

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("HH:mm:ss.SSS", Locale.ROOT);
  private static final int MAX_FAILURES = 30;
  private static final long PAUSE_SECONDS = 2;

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
      out.println(json ? Json.line(event) : time() + "  " + WatchText.line(event));
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
}
