package io.lockkeeper.conformance;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The client under test: a child process that is told what to do, and reports, line by line. */
public final class ClientProcess implements AutoCloseable {

  private static final JsonMapper JSON = new JsonMapper();

  private final Transcript transcript;
  private final Runnable whenEnded;
  private final Process process;
  private final Writer commands;
  private final Mailbox<Report> reports;
  private final Fates fates = new Fates();

  /** One line of the client. */
  public record Report(JsonNode line, long atNanos) {
    /** Returns what is reported: {@code granted}, {@code lost}, ... */
    public String is() {
      return line.path("is").asString("");
    }

    /** Returns which request it is about; empty: none. */
    public String id() {
      return line.path("id").asString("");
    }

    boolean isOf(String kind, String id) {
      return is().equals(kind) && id().equals(id);
    }
  }

  /** Starts the command; {@code whenEnded} runs when it writes no more. */
  ClientProcess(String command, Transcript transcript, Runnable whenEnded) throws IOException {
    this(command, transcript, whenEnded, new Mailbox<>());
  }

  private ClientProcess(
      String command, Transcript transcript, Runnable whenEnded, Mailbox<Report> reports)
      throws IOException {
    this.transcript = transcript;
    this.whenEnded = whenEnded;
    this.reports = reports;
    process = new ProcessBuilder("/bin/sh", "-c", "exec " + command).start();
    commands = process.outputWriter(StandardCharsets.UTF_8);
    read(process.inputReader(StandardCharsets.UTF_8), this::onReport, this::onEnd);
    read(process.errorReader(), line -> transcript.add("stderr", line), () -> {});
  }

  /**
   * Starts a client outside the kit, for tests that set it before real servers.
   *
   * @param command what {@code sh} is to execute
   * @param patience how long to wait for a report, in whole seconds
   */
  public static ClientProcess start(String command, Duration patience) throws IOException {
    return new ClientProcess(
        command, new Transcript(), () -> {}, new Mailbox<>(patience.toSeconds()));
  }

  /**
   * Returns whether the command can be started: a client that has built all that it needs ends well
   * when its input does.
   */
  public static boolean isReady(String command) {
    try {
      Process process =
          new ProcessBuilder("/bin/sh", "-c", "exec " + command)
              .redirectOutput(Redirect.DISCARD)
              .redirectError(Redirect.DISCARD)
              .start();
      process.getOutputStream().close();
      boolean ended = process.waitFor(Mailbox.PATIENCE_SECONDS, TimeUnit.SECONDS);
      process.destroyForcibly();
      return ended && process.exitValue() == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Returns what was said between the client and whoever drives it, with times. */
  public List<String> transcript() {
    return transcript.lines();
  }

  /** Sends a command: {@code {"do": what, ...}}. */
  public void send(String what, Map<String, Object> fields) {
    Map<String, Object> command = new LinkedHashMap<>();
    command.put("do", what);
    command.putAll(fields);
    String line = JSON.writeValueAsString(command);
    transcript.add("kit", line);
    try {
      commands.write(line + "\n");
      commands.flush();
    } catch (IOException e) {
      throw new Unmet("the client takes no commands: " + e.getMessage());
    }
  }

  /** Waits for a report about {@code id} of one of the kinds. */
  public Report await(String id, String... kinds) {
    return reports.await(
        String.join(" or ", kinds) + " of " + id,
        report -> Stream.of(kinds).anyMatch(kind -> report.isOf(kind, id)));
  }

  /** Returns whether the client has reported that about {@code id} and nobody has asked for it. */
  public boolean hasReported(String kind, String id) {
    return reports.poll(report -> report.isOf(kind, id)).isPresent();
  }

  /** Asks whether the client believes now that it holds. */
  public boolean believes(String id) {
    send("holding", Map.of("id", id));
    return believed(id);
  }

  /** Asks so many times, of a client that is stopped: it answers when it goes on. */
  public void askWhileItIsStopped(String id, int times) {
    for (int i = 0; i < times; i++) {
      send("holding", Map.of("id", id));
    }
  }

  /** Waits for the answer to a question that was asked before. */
  public boolean believed(String id) {
    return await(id, "holding").line().path("holding").asBoolean(false);
  }

  /** Returns what was told of each request. */
  Fates fates() {
    return fates;
  }

  /** Stops the client as a debugger or a hypervisor would, with all its threads. */
  public void pause() {
    signal("STOP");
  }

  /** Kills it, with SIGKILL. */
  public void kill() {
    transcript.add("kit", "SIGKILL");
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }

  /** Lets it go on. */
  public void resume() {
    signal("CONT");
  }

  private void signal(String name) {
    transcript.add("kit", "SIG" + name);
    Stream.concat(Stream.of(process.toHandle()), process.descendants())
        .forEach(
            each -> {
              try {
                new ProcessBuilder("kill", "-" + name, Long.toString(each.pid())).start().waitFor();
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
  }

  private void onReport(String line) {
    transcript.add("client", line);
    try {
      Report report = new Report(JSON.readTree(line), System.nanoTime());
      fates.add(report.id(), report.is());
      reports.add(report);
    } catch (JacksonException e) {
      reports.end("the client wrote a line that is no JSON: " + line);
    }
  }

  private void onEnd() {
    reports.end("the client has ended");
    whenEnded.run();
  }

  private void read(BufferedReader lines, Consumer<String> each, Runnable atTheEnd) {
    Thread reader =
        new Thread(
            () -> {
              try (lines) {
                lines.lines().forEach(each);
              } catch (IOException | UncheckedIOException e) {
                transcript.add("kit", "the client's output broke: " + e.getMessage());
              }
              atTheEnd.run();
            },
            "conformance-client");
    reader.setDaemon(true);
    reader.start();
  }

  /** Ends the client: by the end of its input, and by force if that is not enough. */
  @Override
  public void close() {
    try {
      commands.close();
      if (process.waitFor(200, TimeUnit.MILLISECONDS)) {
        return;
      }
    } catch (IOException e) {
      transcript.add("kit", "the client is gone: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    kill();
  }
}
