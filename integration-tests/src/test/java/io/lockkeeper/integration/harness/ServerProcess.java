package io.lockkeeper.integration.harness;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.lockkeeper.server.testing.Ports;
import io.lockkeeper.server.testing.Signals;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/** A server in a process of its own, started from the program's jar; its output goes to a file. */
public final class ServerProcess implements AutoCloseable {

  private static final String AFTER_NAME_OR_LABEL = " {,}";

  private static final List<String> QUICK_START =
      List.of("-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

  private static final List<String> SMALL =
      List.of("-Xmx256m", "-XX:MaxDirectMemorySize=64m", "-XX:+ExitOnOutOfMemoryError");

  private final Process process;
  private final Path log;
  private final int port;
  private final int httpPort;
  private final List<ManagedChannel> channels = new ArrayList<>();

  private ServerProcess(Process process, Path log, int port, int httpPort) {
    this.process = process;
    this.log = log;
    this.port = port;
    this.httpPort = httpPort;
  }

  /** Starts a server on free ports and waits until it serves. */
  public static ServerProcess start(String zookeeper, String... flags) {
    ServerProcess server = launch(zookeeper, flags);
    server.awaitHealth(ServingStatus.SERVING);
    return server;
  }

  /** Starts a server on free ports and waits for nothing. */
  public static ServerProcess launch(String zookeeper, String... flags) {
    return launch(Map.of(), Ports.free(), zookeeper, flags);
  }

  /** Starts a server with little memory on free ports and waits for nothing. */
  public static ServerProcess launchSmall(String zookeeper, String... flags) {
    return launch(SMALL, Map.of(), Ports.free(), zookeeper, flags);
  }

  /** Starts a server on a given port and in a given environment, and waits for nothing. */
  public static ServerProcess launch(
      Map<String, String> environment, int port, String zookeeper, String... flags) {
    return launch(List.of(), environment, port, zookeeper, flags);
  }

  private static ServerProcess launch(
      List<String> java,
      Map<String, String> environment,
      int port,
      String zookeeper,
      String... flags) {
    int httpPort = Ports.free();
    Path directory = Scratch.directory("server");
    List<String> command = new ArrayList<>();
    if (ignoresHangUps()) {
      command.addAll(List.of("env", "--default-signal=HUP"));
    }
    command.addAll(Jar.command(Stream.concat(QUICK_START.stream(), java.stream()).toList()));
    command.addAll(List.of("serve", "--zookeeper", zookeeper));
    command.addAll(List.of("--listen", "127.0.0.1:" + port, "--http", "127.0.0.1:" + httpPort));
    command.addAll(List.of(flags));
    Path log = directory.resolve("server.log");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    builder.environment().putAll(environment);
    try {
      Process process = builder.start();
      Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
      return new ServerProcess(process, log, port, httpPort);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Whoever runs these tests by {@code nohup} has all that they start ignore the signal. */
  private static boolean ignoresHangUps() {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
      return lines
          .filter(line -> line.startsWith("SigIgn:"))
          .anyMatch(line -> Long.parseUnsignedLong(line.substring(7).strip(), 16) % 2 == 1);
    } catch (IOException e) {
      return false; // No Linux: then it has to be run without.
    }
  }

  /** Returns the number of the process. */
  public long pid() {
    return process.pid();
  }

  /** Returns the port that gRPC is served on. */
  public int port() {
    return port;
  }

  /** Returns {@link #port()} as {@code host:port}. */
  public String address() {
    return "127.0.0.1:" + port;
  }

  /** Returns the port that metrics and health are served on. */
  public int httpPort() {
    return httpPort;
  }

  /** Returns all metrics in Prometheus' text format. */
  public String metrics() {
    try (InputStream body =
        URI.create("http://127.0.0.1:" + httpPort + "/metrics").toURL().openStream()) {
      return new String(body.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the sum of a metric, or of those of its series whose labels begin so. */
  public double metric(String line) {
    return metric(metrics(), line);
  }

  /** Returns the sum of a metric in a text that {@link #metrics} has returned. */
  public static double metric(String metrics, String line) {
    return metrics
        .lines()
        .filter(text -> text.startsWith(line))
        .filter(text -> AFTER_NAME_OR_LABEL.indexOf(text.charAt(line.length())) >= 0)
        .mapToDouble(text -> Double.parseDouble(text.substring(text.lastIndexOf(' '))))
        .sum();
  }

  /** Returns a new connection to the server, closed together with it. */
  public synchronized ManagedChannel connect() {
    return connect(port);
  }

  /** Returns a new connection to a port in front of the server, closed together with it. */
  public synchronized ManagedChannel connect(int portInFront) {
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("127.0.0.1", portInFront).usePlaintext().build();
    channels.add(channel);
    return channel;
  }

  /** Returns what the health service says, {@code UNKNOWN} if nobody answers. */
  public ServingStatus health() {
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
    try {
      return health(channel);
    } finally {
      channel.shutdownNow();
    }
  }

  private static ServingStatus health(ManagedChannel channel) {
    try {
      return HealthGrpc.newBlockingStub(channel)
          .withDeadlineAfter(5, SECONDS)
          .check(HealthCheckRequest.getDefaultInstance())
          .getStatus();
    } catch (StatusRuntimeException e) {
      return ServingStatus.UNKNOWN;
    }
  }

  /** Waits until the health service says so. */
  public void awaitHealth(ServingStatus wanted) {
    Awaitility.await("health " + wanted)
        .pollInterval(Duration.ofMillis(50))
        .failFast("the server has exited: " + log, () -> !process.isAlive())
        .until(() -> health() == wanted);
  }

  /** Asks the process to stop, with SIGTERM. */
  public void terminate() {
    Signals.send(process.pid(), "TERM");
  }

  /** Pauses the process, with SIGSTOP: it notices nothing. */
  public void pause() {
    Signals.send(process.pid(), "STOP");
  }

  /** Lets a paused process go on. */
  public void resume() {
    Signals.send(process.pid(), "CONT");
  }

  /** Kills the process and returns when it is dead. */
  public void kill() {
    process.destroyForcibly();
    awaitExit();
  }

  /** Returns whether the process runs. */
  public boolean isAlive() {
    return process.isAlive();
  }

  /** Waits until the process has ended and returns its exit code. */
  public int awaitExit() {
    Awaitility.await("exit").until(() -> !process.isAlive());
    return process.exitValue();
  }

  /** Returns what the process has written so far. */
  public String output() {
    try {
      return Files.readString(log);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public synchronized void close() {
    channels.forEach(ManagedChannel::shutdownNow);
    kill();
  }
}
