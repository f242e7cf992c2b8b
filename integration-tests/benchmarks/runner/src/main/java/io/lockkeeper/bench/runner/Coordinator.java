package io.lockkeeper.bench.runner;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** One coordinator as one runs it: the program's jar. */
final class Coordinator implements AutoCloseable {

  private final Child child;
  private final int port;
  private final int httpPort;

  private Coordinator(Child child, int port, int httpPort) {
    this.child = child;
    this.port = port;
    this.httpPort = httpPort;
  }

  /** Starts a coordinator with its default settings and waits until it serves. */
  static Coordinator start(
      Jvms jvms, String name, Path directory, String zookeeper, List<String> javaFlags)
      throws IOException, InterruptedException {
    return start(jvms, name, directory, zookeeper, javaFlags, List.of());
  }

  /** Starts a coordinator and waits until it serves. */
  static Coordinator start(
      Jvms jvms,
      String name,
      Path directory,
      String zookeeper,
      List<String> javaFlags,
      List<String> settings)
      throws IOException, InterruptedException {
    int port = Ports.free();
    int httpPort = Ports.free();
    List<String> command =
        jvms.program(
            javaFlags,
            Stream.concat(
                    Stream.of(
                        "serve",
                        "--zookeeper=" + zookeeper,
                        "--listen=127.0.0.1:" + port,
                        "--http=127.0.0.1:" + httpPort,
                        "--data-dir=" + directory.resolve("home")),
                    settings.stream())
                .toList());
    Child child = Child.start(name, Files.createDirectories(directory), command);
    Coordinator coordinator = new Coordinator(child, port, httpPort);
    child.await("serving", coordinator::isReady);
    return coordinator;
  }

  private boolean isReady() throws IOException {
    return Http.find(page("/readyz")).filter(answer -> answer.status() == 200).isPresent();
  }

  /** Returns a metric's value; of several with other labels, their sum. */
  double metric(String name) throws IOException {
    return Metrics.sum(Http.get(page("/metrics")).body(), name);
  }

  private URI page(String path) {
    return URI.create("http://127.0.0.1:" + httpPort + path);
  }

  /** Returns the coordinator's process. */
  Child child() {
    return child;
  }

  /** Returns what a client connects to. */
  String address() {
    return "127.0.0.1:" + port;
  }

  @Override
  public void close() {
    child.close();
  }
}
