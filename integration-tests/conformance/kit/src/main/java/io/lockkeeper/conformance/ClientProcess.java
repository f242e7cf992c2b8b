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
  private final Process process;
  private final Writer commands;
  private final Mailbox<Report> reports = new Mailbox<>();

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

  ClientProcess(String command, Transcript transcript) throws IOException {
    this.transcript = transcript;
    process = new ProcessBuilder("/bin/sh", "-c", "exec " + command).start();
    commands = process.outputWriter(StandardCharsets.UTF_8);
    read(process.inputReader(StandardCharsets.UTF_8), this::onReport, "conformance-client");
    read(process.errorReader(), line -> transcript.add("stderr", line), "conformance-stderr");
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
    return await(id, "holding").line().path("holding").asBoolean(false);
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
      reports.add(new Report(JSON.readTree(line), System.nanoTime()));
    } catch (JacksonException e) {
      reports.end("the client wrote a line that is no JSON: " + line);
    }
  }

  private void read(BufferedReader lines, Consumer<String> each, String name) {
    Thread reader =
        new Thread(
            () -> {
              try (lines) {
                lines.lines().forEach(each);
              } catch (IOException | UncheckedIOException e) {
                transcript.add("kit", "the client's output broke: " + e.getMessage());
              }
              reports.end("the client has ended");
            },
            name);
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
