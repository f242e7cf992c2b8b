package io.lockkeeper.cli.run;

import com.google.gson.JsonObject;
import io.lockkeeper.cli.call.ClientFailures;
import io.lockkeeper.cli.call.Me;
import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.DurationConverter;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.OutputOptions;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.LockkeeperClientBuilder;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Measures how fast locks are acquired and released. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Measures a server: clients acquire and release locks one after the other, each in its turn, as fast as they can.",
      "",
      "The locks are new ones, named PREFIX and something random; they are released and the leases closed afterwards. It is"
          + " load: do not measure where others work."
    })
public final class BenchCommand implements Callable<Integer> {

  private static final Duration LEAST = Duration.ofMillis(100);
  private static final Duration MOST = Duration.ofHours(1);
  private static final int MAX_CLIENTS = 1_000;
  private static final int MAX_LOCKS = 100_000;
  private static final Duration REACH_LIMIT = Duration.ofSeconds(10);
  private static final long LONGEST_MICROS = TimeUnit.HOURS.toMicros(2);

  @Spec private CommandSpec spec;

  @Option(
      names = {"-c", "--clients"},
      paramLabel = "COUNT",
      defaultValue = "10",
      description =
          "How many clients, each with its own connection, 1 to 1000. [default ${DEFAULT-VALUE}]")
  private int clients;

  @Option(
      names = {"-d", "--duration"},
      paramLabel = "DURATION",
      defaultValue = "5s",
      converter = DurationConverter.OrSeconds.class,
      description = "How long to measure, 100ms to 1h. [default ${DEFAULT-VALUE}]")
  private Duration duration;

  @Option(
      names = "--locks",
      paramLabel = "COUNT",
      defaultValue = "0",
      description =
          "How many locks the clients share, 1 to 100000; 0: each has its own, and nobody waits. [default ${DEFAULT-VALUE}]")
  private int locks;

  @Option(
      names = "--prefix",
      paramLabel = "PREFIX",
      defaultValue = "bench/",
      description = "What the locks' names begin with. [default ${DEFAULT-VALUE}]")
  private String prefix;

  @Mixin private OutputOptions output;
  @Mixin private ServerOptions options;

  private final BiFunction<ServerOptions, LockkeeperClientBuilder, LockkeeperClientBuilder> connect;
  private final Histogram micros = new ConcurrentHistogram(LONGEST_MICROS, 3);

  BenchCommand() {
    this(ServerOptions::connect);
  }

  /** Makes a command whose clients connect as {@code connect} lets them. */
  BenchCommand(
      BiFunction<ServerOptions, LockkeeperClientBuilder, LockkeeperClientBuilder> connect) {
    this.connect = connect;
  }

  @Override
  public Integer call() {
    options.prepare();
    DurationConverter.require("--duration", duration, LEAST, MOST);
    require("--clients", clients, 1, MAX_CLIENTS);
    require("--locks", locks, 0, MAX_LOCKS);
    String run = prefix + UUID.randomUUID() + "/";
    List<LockkeeperClient> all = new ArrayList<>();
    long startedNanos;
    try {
      for (int i = 0; i < clients; i++) {
        all.add(client());
      }
      warmUp(all, run);
      startedNanos = System.nanoTime();
      long endNanos = startedNanos + duration.toNanos();
      List<CompletableFuture<Void>> loops = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        loops.add(loop(all.get(i), i, run, endNanos));
      }
      CompletableFuture.allOf(loops.toArray(CompletableFuture[]::new)).join();
    } catch (CompletionException e) {
      throw ClientFailures.of(e, options, ExitCodes.NOT_ACQUIRED);
    } finally {
      all.forEach(LockkeeperClient::close);
    }
    print(Duration.ofNanos(System.nanoTime() - startedNanos), spec.commandLine().getOut());
    return ExitCodes.OK;
  }

  private static void require(String option, int value, int least, int most) {
    if (value < least || value > most) {
      throw new CliException(
          ExitCodes.USAGE, option + ": must be " + least + " to " + most + ", is " + value);
    }
  }

  /** Connections and leases are made before the clock runs. */
  private static void warmUp(List<LockkeeperClient> all, String run) {
    List<CompletableFuture<Void>> ready = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      ready.add(acquire(all.get(i), run + "warm-up/" + i).thenCompose(LockHandle::releaseAsync));
    }
    CompletableFuture.allOf(ready.toArray(CompletableFuture[]::new)).join();
  }

  private static CompletableFuture<LockHandle> acquire(LockkeeperClient client, String lock) {
    return client.acquire(LockRequest.of(lock));
  }

  private CompletableFuture<Void> loop(
      LockkeeperClient client, int number, String run, long endNanos) {
    CompletableFuture<Void> end = new CompletableFuture<>();
    step(client, number, 0, run, endNanos, end);
    return end;
  }

  private void step(
      LockkeeperClient client,
      int number,
      long done,
      String run,
      long endNanos,
      CompletableFuture<Void> end) {
    long startNanos = System.nanoTime();
    if (startNanos >= endNanos) {
      end.complete(null);
      return;
    }
    long lock = locks == 0 ? number : (number + done) % locks;
    var unused =
        acquire(client, run + lock)
            .thenCompose(
                handle -> {
                  micros.recordValue(
                      Math.min(LONGEST_MICROS, (System.nanoTime() - startNanos) / 1_000));
                  return handle.releaseAsync();
                })
            .whenCompleteAsync(
                (released, failure) -> {
                  if (failure != null) {
                    end.completeExceptionally(failure);
                  } else {
                    step(client, number, done + 1, run, endNanos, end);
                  }
                });
  }

  private LockkeeperClient client() {
    String list = options.targets().stream().map(Object::toString).collect(Collectors.joining(","));
    return connect
        .apply(options, LockkeeperClient.builder(list).holder(Me.atHost()))
        .requestTimeout(REACH_LIMIT)
        .failFast()
        .build();
  }

  private void print(Duration took, PrintWriter out) {
    double perSecond = micros.getTotalCount() * 1e9 / Math.max(1, took.toNanos());
    if (output.isJson()) {
      JsonObject result = new JsonObject();
      result.addProperty("clients", clients);
      result.addProperty("locks", locks == 0 ? clients : locks);
      result.addProperty("seconds", took.toMillis() / 1_000.0);
      result.addProperty("acquired", micros.getTotalCount());
      result.addProperty("perSecond", Math.round(perSecond));
      for (double percentile : List.of(50.0, 90.0, 99.0, 100.0)) {
        result.addProperty(
            percentile == 100.0 ? "maxMicros" : "p" + (int) percentile + "Micros",
            micros.getValueAtPercentile(percentile));
      }
      out.println(result);
    } else {
      out.printf(
          "%d locks acquired and released in %s by %d clients: %.0f a second%n",
          micros.getTotalCount(), Text.age(took), clients, perSecond);
      out.printf(
          "until acquired: half within %s, 90 %% %s, 99 %% %s, all %s%n",
          millis(50), millis(90), millis(99), millis(100));
    }
    out.flush();
  }

  private String millis(double percentile) {
    return "%.1f ms".formatted(micros.getValueAtPercentile(percentile) / 1_000.0);
  }
}
