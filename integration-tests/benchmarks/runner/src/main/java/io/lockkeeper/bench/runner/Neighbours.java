package io.lockkeeper.bench.runner;

import java.io.File;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Servers of other systems, where they are installed. */
final class Neighbours {

  private static final int PATIENCE_MILLIS = 5_000;

  private Neighbours() {}

  /** A server that runs, and what its clients connect to. */
  record Running(Child child, String address) {}

  /** Returns the program that a system needs beside what the build brings; empty: none. */
  static Optional<String> program(Subject subject) {
    return switch (subject) {
      case ETCD -> Optional.of("etcd");
      case REDISSON, REDISSON_FAIR, REDISSON_NOFSYNC -> Optional.of("redis-server");
      case RAW_ASYNC, RAW_MULTI, MIRRORED_MULTI, CURATOR, LOCKKEEPER, PING_PONG -> Optional.empty();
    };
  }

  /** Returns the Debian package that has a program. */
  static String debianPackage(String program) {
    return "etcd".equals(program) ? "etcd-server" : program;
  }

  /** Finds a program as a shell would. */
  static Optional<Path> find(String program) {
    return Arrays.stream(System.getenv("PATH").split(File.pathSeparator, -1))
        .map(directory -> Path.of(directory, program))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /** Starts etcd with its default settings: it forces what it writes to the disk. */
  static Running etcd(Path directory) throws IOException, InterruptedException {
    String client = "http://127.0.0.1:" + Ports.free();
    String peer = "http://127.0.0.1:" + Ports.free();
    Child child =
        Child.start(
            "etcd",
            Files.createDirectories(directory),
            List.of(
                "etcd",
                "--name=bench",
                "--data-dir=" + directory.resolve("data"),
                "--listen-client-urls=" + client,
                "--advertise-client-urls=" + client,
                "--listen-peer-urls=" + peer,
                "--initial-advertise-peer-urls=" + peer,
                "--initial-cluster=bench=" + peer));
    child.await("healthy", () -> isHealthy(URI.create(client + "/health")));
    return new Running(child, client.substring("http://".length()));
  }

  private static boolean isHealthy(URI health) throws IOException {
    return Http.find(health).filter(answer -> answer.body().contains("true")).isPresent();
  }

  /**
   * Starts Redis.
   *
   * @param forced whether it forces every write to the disk before it answers, as the other systems
   *     do; otherwise it has its default settings and may lose minutes of writes
   */
  static Running redis(Path directory, boolean forced) throws IOException, InterruptedException {
    int port = Ports.free();
    List<String> durability =
        forced ? List.of("--appendonly", "yes", "--appendfsync", "always") : List.of();
    Child child =
        Child.start(
            forced ? "redis" : "redis-nofsync",
            Files.createDirectories(directory),
            concat(
                List.of(
                    "redis-server",
                    "--port",
                    Integer.toString(port),
                    "--bind",
                    "127.0.0.1",
                    "--dir",
                    directory.toString()),
                durability));
    child.await("answering", () -> answersPing(port));
    return new Running(child, "127.0.0.1:" + port);
  }

  private static List<String> concat(List<String> first, List<String> second) {
    return Stream.concat(first.stream(), second.stream()).toList();
  }

  private static boolean answersPing(int port) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(PATIENCE_MILLIS);
      socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
      socket.getOutputStream().flush();
      return socket.getInputStream().read() == '+';
    } catch (ConnectException notYet) {
      return false;
    }
  }
}
