package io.lockkeeper.bench.runner;

import io.lockkeeper.bench.load.Conversation;
import io.lockkeeper.bench.load.LoadProgram;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A load in a JVM of its own that answers words. */
final class TalkingJvm implements AutoCloseable {

  private static final JsonMapper JSON = JsonMapper.shared();

  private final Child child;
  private final BufferedReader answers;

  private TalkingJvm(Child child) {
    this.child = child;
    this.answers =
        new BufferedReader(
            new InputStreamReader(child.process().getInputStream(), StandardCharsets.UTF_8));
  }

  /** Starts a load and waits until it listens. */
  static TalkingJvm start(
      Jvms jvms, String name, Path directory, String main, List<String> arguments)
      throws IOException {
    return start(jvms, name, directory, main, arguments, Jvms.LOAD_FLAGS);
  }

  /** Starts a load with other flags of its JVM, and waits until it listens. */
  static TalkingJvm start(
      Jvms jvms,
      String name,
      Path directory,
      String main,
      List<String> arguments,
      List<String> flags)
      throws IOException {
    List<String> command = jvms.command("lockkeeper", flags, main, arguments);
    TalkingJvm jvm = new TalkingJvm(Child.startTalking(name, directory, command));
    jvm.await(LoadProgram.READY);
    return jvm;
  }

  /** Says a line and returns the answer. */
  JsonNode ask(String line) throws IOException {
    OutputStream words = child.process().getOutputStream();
    words.write((line + "\n").getBytes(StandardCharsets.UTF_8));
    words.flush();
    return JSON.readTree(await(Conversation.ANSWER).substring(Conversation.ANSWER.length()));
  }

  /** Returns the load's process. */
  Child child() {
    return child;
  }

  private String await(String beginning) throws IOException {
    for (String line = answers.readLine(); line != null; line = answers.readLine()) {
      if (line.startsWith(beginning)) {
        return line;
      }
    }
    throw new IOException(child.name() + " has ended: see " + child.log());
  }

  @Override
  public void close() {
    child.close();
  }
}
