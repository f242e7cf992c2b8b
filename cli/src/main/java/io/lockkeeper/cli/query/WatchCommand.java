package io.lockkeeper.cli.query;

import io.grpc.Context;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ClosedPipe;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Terminal;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.Json;
import io.lockkeeper.v1.LockServiceGrpc.LockServiceBlockingStub;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import java.io.PrintWriter;
import java.time.LocalDateTime;
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
import picocli.CommandLine.Spec;

/** Prints what happens to locks, as it happens. */
@Command(
    name = "watch",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Prints the locks in use and then every change, with the local time, until Ctrl-C or until nobody reads its output.",
      "",
      "When the server goes away it goes on at the next one, for up to 30 attempts, and says so on standard error."
    })
public final class WatchCommand implements Callable<Integer> {

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss.SSS", Locale.ROOT);
  private static final int MAX_FAILURES = 30;
  private static final long PAUSE_SECONDS = 2;
  private static final long HEALTH_SECONDS = 10;

  @Spec private CommandSpec spec;

  @Option(names = "--json", description = "One JSON object for each event, one to a line.")
  private boolean json;

  @Mixin private PrefixParameter names;
  @Mixin private ServerOptions options;

  private long revision;
  private int failures;
  private boolean gone;

  @Override
  public Integer call() throws Exception {
    options.prepare();
    try (Context.CancellableContext context = Context.current().withCancellation()) {
      ClosedPipe output = new ClosedPipe(() -> context.cancel(null));
      try {
        return context.call(() -> follow(new Servers(options), context));
      } finally {
        output.close();
      }
    }
  }

  private int follow(Servers servers, Context context) {
    while (true) {
      try {
        return servers.stream(this::follow);
      } catch (CliException e) {
        if (context.isCancelled()) {
          return ExitCodes.OK;
        }
        if (e.exitCode() != ExitCodes.UNAVAILABLE || revision == 0 || ++failures > MAX_FAILURES) {
          throw e;
        }
        if (!gone) {
          gone = true;
          say("the server is gone; trying again");
        }
        pause();
      }
    }
  }

  private int follow(LockServiceBlockingStub stub) {
    if (gone) {
      // A watch that is resumed says nothing until something happens.
      requireServing(stub);
      gone = false;
      say("the server is back; what was missed follows");
    }
    PrintWriter out = spec.commandLine().getOut();
    Iterator<WatchResponse> events =
        stub.watch(
            WatchRequest.newBuilder().setPrefix(names.prefix).setStartRevision(revision).build());
    while (events.hasNext()) {
      WatchResponse event = events.next();
      failures = 0;
      if (event.hasHeartbeat()) {
        continue;
      }
      revision = event.getRevision();
      out.println(json ? Json.line(event) : time() + "  " + WatchText.line(event));
      if (Terminal.isOutputLost(out)) {
        return ExitCodes.OK; // Nobody reads any more.
      }
    }
    return ExitCodes.OK;
  }

  private static void requireServing(LockServiceBlockingStub stub) {
    ServingStatus status =
        HealthGrpc.newBlockingStub(stub.getChannel())
            .withDeadlineAfter(HEALTH_SECONDS, TimeUnit.SECONDS)
            .check(HealthCheckRequest.getDefaultInstance())
            .getStatus();
    if (status != ServingStatus.SERVING) {
      throw new StatusRuntimeException(Status.UNAVAILABLE.withDescription("it does not serve"));
    }
  }

  private void say(String what) {
    PrintWriter err = spec.commandLine().getErr();
    err.println("lockkeeper: " + what);
    err.flush();
  }

  private static void pause() {
    CompletableFuture.runAsync(
            () -> {}, CompletableFuture.delayedExecutor(PAUSE_SECONDS, TimeUnit.SECONDS))
        .join();
  }

  private static String time() {
    return LocalDateTime.now(ZoneId.systemDefault()).format(TIME);
  }
}
