package io.lockkeeper.bench.runner;

import io.lockkeeper.bench.load.LoadProgram;
import io.lockkeeper.bench.load.Order;
import io.lockkeeper.bench.load.Report;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import tools.jackson.databind.json.JsonMapper;

/** A load in a process of its own. */
final class LoadProcess implements AutoCloseable {

  /** Of the client library, and of bare gRPC. */
  static final String LOCKKEEPER = "io.lockkeeper.bench.lockkeeper.LockkeeperLoad";

  private static final JsonMapper JSON = JsonMapper.shared();

  private final Child child;
  private final BufferedReader answers;

  private LoadProcess(Child child) {
    this.child = child;
    this.answers =
        new BufferedReader(
            new InputStreamReader(child.process().getInputStream(), StandardCharsets.UTF_8));
  }

  /** Starts a load in a JVM and waits until it takes orders. */
  static LoadProcess start(
      Jvms jvms, String name, Path directory, String module, String main, List<String> arguments)
      throws IOException {
    return start(name, directory, jvms.command(module, Jvms.LOAD_FLAGS, main, arguments));
  }

  /** Starts a load and waits until it takes orders. */
  static LoadProcess start(String name, Path directory, List<String> command) throws IOException {
    LoadProcess load = new LoadProcess(Child.startTalking(name, directory, command));
    load.await(LoadProgram.READY);
    return load;
  }

  /** Watches other processes while a load counts. */
  interface Observer {
    /** Counting begins. */
    void begin() throws IOException;

    /** Counting has ended. */
    void end() throws IOException;
  }

  /** Has an order carried out, and returns when all its clients have stopped. */
  Report carryOut(Order order, Observer observer) throws IOException {
    OutputStream orders = child.process().getOutputStream();
    orders.write((JSON.writeValueAsString(order) + "\n").getBytes(StandardCharsets.UTF_8));
    orders.flush();
    String line = await(LoadProgram.BEGIN, LoadProgram.END);
    if (line.startsWith(LoadProgram.BEGIN)) {
      observer.begin();
      line = await(LoadProgram.END);
      observer.end();
    }
    Report report = JSON.readValue(line.substring(LoadProgram.END.length()), Report.class);
    await(LoadProgram.IDLE);
    if (!report.failure().isEmpty()) {
      throw new IOException(
          child.name() + " failed at " + order + ": " + report.failure() + "; see " + child.log());
    }
    return report;
  }

  private String await(String... beginnings) throws IOException {
    for (String line = answers.readLine(); line != null; line = answers.readLine()) {
      for (String beginning : beginnings) {
        if (line.startsWith(beginning)) {
          return line;
        }
      }
    }
    throw new IOException(child.name() + " has ended: see " + child.log());
  }

  /** Returns the load's process. */
  Child child() {
    return child;
  }

  @Override
  public void close() {
    child.close();
  }
}
