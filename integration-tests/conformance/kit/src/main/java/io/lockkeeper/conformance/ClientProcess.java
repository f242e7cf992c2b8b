package io.lockkeeper.conformance;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The client under test: a child process that is told what to do, and reports, line by line. */
final class ClientProcess implements AutoCloseable {

  private static final JsonMapper JSON = new JsonMapper();

  private final Transcript transcript;
  private final Runnable whenEnded;
  private final Process process;
  private final Writer commands;
  private final Mailbox<Report> reports = new Mailbox<>();
  private final Fates fates = new Fates();

  /** One line of the client. */
  record Report(JsonNode line, long atNanos) {
    String is() {
      return line.path("is").asString("");
    }

    String id() {
      return line.path("id").asString("");
    }

    boolean isOf(String kind, String id) {
      return is().equals(kind) && id().equals(id);
    }
  }

  /** Starts the command; {@code whenEnded} runs when it writes no more. */
  ClientProcess(String command, Transcript transcript, Runnable whenEnded) throws IOException {
    this.transcript = transcript;
    this.whenEnded = whenEnded;
    process = new ProcessBuilder("/bin/sh", "-c", "exec " + command).start();
    commands = process.outputWriter(StandardCharsets.UTF_8);
    read(process.inputReader(StandardCharsets.UTF_8), this::onReport, this::onEnd);
    read(process.errorReader(), line -> transcript.add("stderr", line), () -> {});
  }

  /** Sends a command: {@code {"do": what, ...}}. */
  void send(String what, Map<String, Object> fields) {
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
  Report await(String id, String... kinds) {
    return reports.await(
        String.join(" or ", kinds) + " of " + id,
        report -> Stream.of(kinds).anyMatch(kind -> report.isOf(kind, id)));
  }

  /** Returns whether the client has reported that about {@code id} and nobody has asked for it. */
  boolean hasReported(String kind, String id) {
    return reports.poll(report -> report.isOf(kind, id)).isPresent();
  }

  /** Asks whether the client believes now that it holds. */
  boolean believes(String id) {
    send("holding", Map.of("id", id));
    return believed(id);
  }

  /** Asks so many times, of a client that is stopped: it answers when it goes on. */
  void askWhileItIsStopped(String id, int times) {
    for (int i = 0; i < times; i++) {
      send("holding", Map.of("id", id));
    }
  }

  /** Waits for the answer to a question that was asked before. */
  boolean believed(String id) {
    return await(id, "holding").line().path("holding").asBoolean(false);
  }

  /** Returns what was told of each request. */
  Fates fates() {
    return fates;
  }

  /** Stops the client as a debugger or a hypervisor would, with all its threads. */
  void pause() {
    signal("STOP");
  }

  /** Lets it go on. */
  void resume() {
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
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }
}
