package io.lockkeeper.server.testing;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/**
 * A standalone ZooKeeper server in its own JVM, taken from the test class path, that can be killed,
 * paused and started again on the same data and port. Ends with the JVM that started it.
 */
public final class ZooKeeperProcess implements AutoCloseable {

  private static final Duration START_LIMIT = Duration.ofSeconds(60);

  private final Path directory;
  private final int port;
  private final Map<String, String> configuration;
  private final Map<String, String> systemProperties;
  private final Map<String, String> environment;
  private Process process;

  private ZooKeeperProcess(Builder builder) {
    directory = builder.directory;
    port = builder.port == 0 ? Ports.free() : builder.port;
    configuration = new LinkedHashMap<>(builder.configuration);
    systemProperties = new TreeMap<>(builder.systemProperties);
    environment = builder.environment;
  }

  /** Returns a builder of a server that keeps its data in {@code directory}. */
  public static Builder in(Path directory) {
    return new Builder(directory);
  }

  /** Settings of a server. */
  public static final class Builder {
    private final Path directory;
    private int port;
    private final Map<String, String> configuration = new LinkedHashMap<>();
    private final Map<String, String> systemProperties = new LinkedHashMap<>();
    private Map<String, String> environment = Map.of();

    private Builder(Path directory) {
      this.directory = Objects.requireNonNull(directory);
      configuration.put("tickTime", "200");
      configuration.put("initLimit", "20");
      configuration.put("syncLimit", "5");
      configuration.put("minSessionTimeout", "400");
      configuration.put("maxSessionTimeout", "60000");
      configuration.put("maxClientCnxns", "0");
      configuration.put("clientPortAddress", "127.0.0.1");
      configuration.put("admin.enableServer", "false");
      systemProperties.put("zookeeper.admin.enableServer", "false");
      systemProperties.put("zookeeper.4lw.commands.whitelist", "*");
      systemProperties.put("zookeeper.forceSync", "no");
      systemProperties.put("zookeeper.preAllocSize", "1024");
      systemProperties.put("znode.container.checkIntervalMs", "60000");
    }

    /** Chooses the port; without it a free one is found. */
    public Builder port(int chosen) {
      port = chosen;
      return this;
    }

    /** Sets a line of the configuration file. */
    public Builder configuration(String key, String value) {
      configuration.put(key, value);
      return this;
    }

    /** Sets a system property of the server's JVM. */
    public Builder systemProperty(String key, String value) {
      systemProperties.put(key, value);
      return this;
    }

    /** Adds variables to the server's environment. */
    public Builder environment(Map<String, String> added) {
      environment = Map.copyOf(added);
      return this;
    }

    /** Makes the server remove empty containers, and those never used, about every so often. */
    public Builder containersReapedEvery(Duration interval) {
      systemProperties.put("znode.container.checkIntervalMs", "" + interval.toMillis());
      systemProperties.put("znode.container.maxPerMinute", "1000000");
      return this;
    }

    /** Returns a server that does not run yet. */
    public ZooKeeperProcess build() {
      return new ZooKeeperProcess(this);
    }

    /** Returns a server that answers. */
    public ZooKeeperProcess start() {
      ZooKeeperProcess server = build();
      server.start();
      return server;
    }
  }

  /** Starts the server, on what data there is, and returns when it answers. */
  public void start() {
    if (process != null && process.isAlive()) {
      throw new IllegalStateException("already running");
    }
    try {
      Files.createDirectories(directory);
      process = launch(writeConfiguration());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Awaitility.await("ZooKeeper, see " + log())
        .atMost(START_LIMIT)
        .pollInterval(Duration.ofMillis(50))
        .until(this::answers);
  }

  private Path writeConfiguration() throws IOException {
    List<String> lines = new ArrayList<>();
    configuration.forEach((key, value) -> lines.add(key + "=" + value));
    lines.add("dataDir=" + directory.resolve("data"));
    lines.add("clientPort=" + port);
    return Files.write(directory.resolve("zoo.cfg"), lines);
  }

  private Process launch(Path file) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    systemProperties.forEach((key, value) -> command.add("-D" + key + "=" + value));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(ZooKeeperMain.class.getName());
    command.add(file.toString());
    File log = log().toFile();
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log));
    builder.environment().putAll(environment);
    Process started = builder.start();
    // It ends by itself with us, but not while it is paused.
    Runtime.getRuntime().addShutdownHook(new Thread(started::destroyForcibly));
    return started;
  }

  private boolean answers() {
    if (!process.isAlive()) {
      throw new IllegalStateException(
          "ZooKeeper ended with " + process.exitValue() + ":\n" + tail());
    }
    try {
      return ask("srvr").contains("Mode:");
    } catch (UncheckedIOException notYet) {
      return false;
    }
  }

  private String tail() {
    try (Stream<String> lines = Files.lines(log())) {
      List<String> all = lines.toList();
      return String.join("\n", all.subList(Math.max(0, all.size() - 40), all.size()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the file that the server writes its log to. */
  public Path log() {
    return directory.resolve("zookeeper.log");
  }

  /** Returns the server's port. */
  public int port() {
    return port;
  }

  /** Returns what a client connects to. */
  public String connectString() {
    return "127.0.0.1:" + port;
  }

  /** Returns the answer to one of ZooKeeper's four-letter words, such as {@code wchs}. */
  public String ask(String fourLetterWord) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(5_000);
      socket.getOutputStream().write(fourLetterWord.getBytes(StandardCharsets.US_ASCII));
      socket.getOutputStream().flush();
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the server's process id. */
  public long pid() {
    return process.pid();
  }

  /** Returns whether the server's process runs. */
  public boolean isAlive() {
    return process != null && process.isAlive();
  }

  /** Kills the server with SIGKILL, and returns when it is dead. */
  public void kill() {
    process.destroyForcibly();
    try {
      if (!process.waitFor(60, TimeUnit.SECONDS)) {
        throw new IllegalStateException("would not die: " + process.pid());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Kills the server and starts it again on the same data and port. */
  public void restart() {
    kill();
    start();
  }

  /** Stops the server's process with SIGSTOP: connections stay open and nothing answers. */
  public void pause() {
    Signals.send(process.pid(), "STOP");
  }

  /** Lets a paused server go on. */
  public void resume() {
    Signals.send(process.pid(), "CONT");
  }

  @Override
  public void close() {
    if (process != null) {
      kill();
    }
  }
}
