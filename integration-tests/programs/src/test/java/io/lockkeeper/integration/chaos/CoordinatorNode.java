package io.lockkeeper.integration.chaos;

import io.lockkeeper.integration.harness.Jar;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** One coordinator: the program's jar in a process that can be killed, paused and started again. */
final class CoordinatorNode {

  private static final int ANSWER_MILLIS = 2_000;

  private final String name;
  private final int port;
  private final int httpPort;
  private final Path directory;
  private final List<String> command;
  private Child child;

  /**
   * Where a coordinator is and whom it talks to.
   *
   * @param zookeeper the ensemble as it sees it
   * @param hosts by what addresses it knows its peers
   */
  record Place(int port, int httpPort, String zookeeper, Path hosts) {}

  CoordinatorNode(String name, Path directory, Place place, Optional<PlantedBug> bug) {
    this.name = name;
    this.port = place.port();
    this.httpPort = place.httpPort();
    this.directory = directory;
    this.command = command(name, directory, place, bug);
    child = launch();
  }

  private static List<String> command(
      String name, Path directory, Place place, Optional<PlantedBug> bug) {
    List<String> java =
        List.of(
            "-Xmx192m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:+ExitOnOutOfMemoryError",
            "-Djdk.net.hosts.file=" + place.hosts());
    List<String> command =
        new ArrayList<>(
            bug.map(planted -> planted.command(java)).orElseGet(() -> Jar.command(java)));
    command.addAll(List.of("serve", "--zookeeper", place.zookeeper()));
    command.addAll(List.of("--listen", "127.0.0.1:" + place.port()));
    command.addAll(List.of("--http", "127.0.0.1:" + place.httpPort()));
    command.addAll(List.of("--advertise", name + ":" + place.port()));
    command.addAll(List.of("--data-dir", directory.resolve("data").toString()));
    return command;
  }

  private Child launch() {
    return Child.start(command, directory.resolve("coordinator.log"));
  }

  String name() {
    return name;
  }

  int port() {
    return port;
  }

  long pid() {
    return child.pid();
  }

  boolean isAlive() {
    return child.isAlive();
  }

  void kill() {
    child.kill();
  }

  /** Asks it to drain and end; kills it if it has not after so long, and says whether it had. */
  boolean terminate(long seconds) {
    child.signal("TERM");
    if (child.awaitExit(seconds)) {
      return true;
    }
    child.kill();
    return false;
  }

  /** Starts a dead coordinator again. */
  void restart() {
    child = launch();
  }

  void pause() {
    child.signal("STOP");
  }

  void resume() {
    child.signal("CONT");
  }

  /** Returns whether it says of itself that it serves. */
  boolean isServing() {
    try {
      URI ready = new URI("http://127.0.0.1:" + httpPort + "/readyz");
      HttpURLConnection connection = (HttpURLConnection) ready.toURL().openConnection();
      connection.setConnectTimeout(ANSWER_MILLIS);
      connection.setReadTimeout(ANSWER_MILLIS);
      return connection.getResponseCode() == HttpURLConnection.HTTP_OK;
    } catch (IOException e) {
      return false;
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }
}
