package io.lockkeeper.integration.chaos;

import io.lockkeeper.integration.clients.Language;
import io.lockkeeper.integration.harness.Jar;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A process of clients: can be frozen and killed; what is killed is followed by another. */
final class ClientNode {

  private final String name;
  private final Path directory;
  private final History runner;
  private final List<String> program;
  private final List<String> arguments;
  private int generation;
  private Child child;

  /**
   * What a process of clients is told.
   *
   * @param servers the coordinators as it reaches them
   * @param clients how many clients it has
   */
  record Task(String servers, int registerPort, int clients, long seed) {}

  private ClientNode(Builder builder) {
    name = builder.name;
    directory = builder.directory;
    runner = builder.runner;
    program = builder.program;
    Task task = builder.task;
    arguments =
        List.of(
            task.servers(),
            Integer.toString(task.registerPort()),
            Integer.toString(task.clients()),
            Long.toString(task.seed()));
    child = launch();
  }

  private record Builder(
      String name, Path directory, History runner, List<String> program, Task task) {}

  /** Starts clients in a language. */
  static ClientNode of(Language language, String name, Path directory, History runner, Task task) {
    List<String> program =
        language == Language.JAVA
            ? List.of(
                Jar.JAVA,
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                Child.classPath(),
                ClientMain.class.getName())
            : List.of(language.program("chaos-worker"));
    return new ClientNode(new Builder(name, directory, runner, program, task));
  }

  private Child launch() {
    generation++;
    String process = name + "." + generation;
    List<String> command = new ArrayList<>(program);
    command.add(process);
    command.add(arguments.get(0));
    command.add(arguments.get(1));
    command.add(directory.resolve(process + ".jsonl").toString());
    command.add(arguments.get(2));
    command.add(arguments.get(3) + generation);
    return Child.start(command, directory.resolve(process + ".log"));
  }

  String name() {
    return name;
  }

  void freeze() {
    child.signal("STOP");
  }

  void thaw() {
    child.signal("CONT");
  }

  /** Kills it; the history says from when on it believed nothing any more. */
  void kill() {
    runner.line("killed").with("process", name + "." + generation).write();
    child.kill();
  }

  /** Starts the process that follows a killed one. */
  void replace() {
    child = launch();
  }

  /** Tells it to finish. */
  void stop() {
    child.tell("stop");
  }

  /** Waits until it has finished; says whether it has, and well. */
  boolean awaitEnd(long seconds) {
    return child.awaitExit(seconds) && child.exitCode() == 0;
  }

  /** Ends it, whatever it does. */
  void abandon() {
    child.kill();
  }
}
