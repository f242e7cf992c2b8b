package io.lockkeeper.integration.shards;

import static org.awaitility.Awaitility.await;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.integration.failover.Cluster;
import io.lockkeeper.integration.failover.Cluster.Plan;
import io.lockkeeper.integration.harness.Jar;
import io.lockkeeper.integration.harness.Program;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.v1.GetShardsRequest;
import io.lockkeeper.v1.ShardServiceGrpc;
import io.lockkeeper.v1.ShardTable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The shards a, which leads, and b: an ensemble each with a coordinator, all processes of their
 * own. A test class that registers them as its extension has them whole before each test.
 */
final class TwoShards implements BeforeEachCallback, AfterAllCallback {

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Cluster a = Cluster.start(Plan.quick(1));
  private final Cluster b = Cluster.start(Plan.quick(1));
  private final List<ManagedChannel> channels = new ArrayList<>();

  private TwoShards() {
    require(0, "init", "a", "--addresses", a.addresses());
    require(0, "set", "b", "--addresses", b.addresses());
  }

  /** Starts both, and makes them shards; everything is served by a. */
  static TwoShards start() {
    return new TwoShards();
  }

  Cluster a() {
    return a;
  }

  Cluster b() {
    return b;
  }

  /** Returns a client that was told of one of them. */
  static LockkeeperClient clientOf(Cluster shard) {
    return shard.client(Duration.ofSeconds(30));
  }

  /** Runs {@code lockkeeper shards} against a. */
  Program shards(String... arguments) {
    return Program.run(Map.of(), arguments(arguments));
  }

  private String[] arguments(String... arguments) {
    return Stream.of(
            Stream.of("shards"), Stream.of(arguments), Stream.of("--server", a.addresses()))
        .flatMap(all -> all)
        .toArray(String[]::new);
  }

  /** Runs it, and fails unless it ends as it should. */
  String require(int exitCode, String... arguments) {
    Program run = shards(arguments);
    if (run.exitCode() != exitCode) {
      throw new AssertionError(
          List.of(arguments) + " ended with " + run.exitCode() + ": " + run.text());
    }
    return run.text();
  }

  /** Starts it, and does not wait. */
  Process begin(String... arguments) {
    List<String> command = new ArrayList<>(Jar.command(List.of("-XX:TieredStopAtLevel=1")));
    command.addAll(List.of(arguments(arguments)));
    try {
      return new ProcessBuilder(command)
          .redirectErrorStream(true)
          .redirectOutput(Scratch.directory("shards").resolve("output").toFile())
          .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Ends it as a power cut would. */
  static void kill(Process process) throws InterruptedException {
    process.destroyForcibly();
    if (!process.waitFor(20, TimeUnit.SECONDS)) {
      throw new AssertionError("it does not end");
    }
  }

  /** Returns a connection to the coordinator of a shard; it lasts as long as this. */
  synchronized ManagedChannel connect(Cluster shard) {
    ManagedChannel channel =
        NettyChannelBuilder.forTarget(shard.addresses()).usePlaintext().build();
    channels.add(channel);
    return channel;
  }

  /** Returns the table as a shard has it; waits while that cannot say, as when it changes. */
  ShardTable table(Cluster shard) {
    ShardServiceGrpc.ShardServiceBlockingStub stub =
        ShardServiceGrpc.newBlockingStub(connect(shard));
    GetShardsRequest request = GetShardsRequest.getDefaultInstance();
    return await()
        .atMost(PATIENCE)
        .ignoreExceptionsMatching(e -> Status.fromThrowable(e).getCode() == Code.UNAVAILABLE)
        .until(() -> stub.getShards(request).getTable(), table -> true);
  }

  @Override
  public void beforeEach(ExtensionContext test) {
    a.beforeEach(test);
    b.beforeEach(test);
    require(0, "sync");
  }

  @Override
  public synchronized void afterAll(ExtensionContext tests) {
    channels.forEach(ManagedChannel::shutdownNow);
    b.close();
    a.close();
  }
}
