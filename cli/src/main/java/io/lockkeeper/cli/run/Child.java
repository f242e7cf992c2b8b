package io.lockkeeper.cli.run;

import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** The command that runs under the lock, with whatever processes it starts. Thread-safe. */
final class Child {

  /** Where proc(5) has these fields, counted from the state. */
  private static final int STATE = 0;

  private static final int GROUP = 2;
  private static final int GROUP_IN_FOREGROUND = 5;

  private final Process process;
  private final Set<ProcessHandle> told = new HashSet<>();

  private Child(Process process) {
    this.process = process;
  }

  /**
   * Starts a command on our own standard streams.
   *
   * @throws CliException if it cannot be run, with the exit code that a shell would give
   */
  static Child start(List<String> command, Map<String, String> environment) {
    ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
    builder.environment().putAll(environment);
    try {
      return new Child(builder.start());
    } catch (IOException e) {
      String message = String.valueOf(e.getMessage());
      boolean missing = message.contains("error=2,");
      throw new CliException(
          missing ? ExitCodes.NOT_FOUND : ExitCodes.NOT_EXECUTABLE,
          "cannot run " + command.get(0) + ": " + message.replaceFirst(".*error=\\d+, ", ""),
          e);
    }
  }

  /** Returns the process id. */
  long pid() {
    return process.pid();
  }

  /** Completes with the exit code; 128 + n if signal n ended it. */
  CompletableFuture<Integer> exit() {
    return process.onExit().thenApply(Process::exitValue);
  }

  /**
   * Passes a signal of ours on to the command itself, and remembers what it has started.
   *
   * @param name such as {@code INT}
   */
  synchronized void passOn(String name) {
    told.addAll(tree());
    if (name.equals("INT") && hearsCtrlC()) {
      return; // twice would be a different order to many programs
    }
    if (name.equals("TERM")) {
      process.destroy();
      return;
    }
    try {
      new ProcessBuilder("kill", "-" + name, Long.toString(pid())).start().onExit().join();
    } catch (IOException e) {
      process.destroy(); // no such program here; TERM is what the JDK can send by itself
    }
  }

  /** Sends TERM to the command and to all that it has started. */
  synchronized void terminate() {
    for (ProcessHandle handle : tree()) {
      told.add(handle);
      handle.destroy();
    }
  }

  /** Sends TERM to all that was remembered or sent a signal, and may outlive the command. */
  synchronized void terminateTheRest() {
    told.forEach(ProcessHandle::destroy);
  }

  /**
   * Sends KILL to the command, to all that it has started, and to all that was sent TERM before and
   * still lives, with whatever that has started.
   */
  synchronized void kill() {
    List<ProcessHandle> started = told.stream().flatMap(ProcessHandle::descendants).toList();
    told.addAll(started);
    told.addAll(tree());
    told.forEach(ProcessHandle::destroyForcibly);
  }

  /** Returns whether any process lives that was sent TERM or KILL here. */
  synchronized boolean isAnyLeft() {
    return told.stream().anyMatch(Child::isRunning);
  }

  /**
   * Returns whether a process runs. One that has died counts as alive to the JDK until its parent
   * has asked after it, and an orphan's may never do that, in a container above all.
   */
  static boolean isRunning(ProcessHandle handle) {
    if (!handle.isAlive()) {
      return false;
    }
    try {
      return !stat(handle.pid())[STATE].equals("Z");
    } catch (IOException e) {
      return handle.isAlive(); // it has just gone, or this system has no /proc
    }
  }

  /**
   * Returns whether Ctrl-C reaches the command without us, which it does while the command's
   * process group is in the foreground of a terminal. Assumed where there is no {@code /proc} to
   * ask: such systems are people's own.
   */
  private boolean hearsCtrlC() {
    try {
      String[] stat = stat(pid());
      return stat[GROUP].equals(stat[GROUP_IN_FOREGROUND]);
    } catch (IOException e) {
      return true;
    }
  }

  /** Returns what Linux says of a process, from its state on. */
  private static String[] stat(long pid) throws IOException {
    // 4711 (name) S ...: the name may hold anything, parentheses too
    Path file = Path.of("/proc", Long.toString(pid), "stat");
    String stat = Files.readString(file, StandardCharsets.ISO_8859_1);
    return stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
  }

  /** Descendants first: once its parent has died, a process is nobody's descendant any more. */
  private List<ProcessHandle> tree() {
    List<ProcessHandle> tree = new ArrayList<>(process.descendants().toList());
    tree.add(process.toHandle());
    return tree;
  }
}
