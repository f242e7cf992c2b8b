package io.lockkeeper.integration.harness;

import io.lockkeeper.integration.harness.Polyglot.Running;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One run of {@code grpcurl}, as a person would type it. It knows the contract by reflection only.
 */
public final class Grpcurl implements AutoCloseable {

  private static final Pattern TOKEN = Pattern.compile("\"fencingToken\": \"([0-9]+)\"");

  private final Running running;
  private final BufferedReader output;

  private Grpcurl(Running running) {
    this.running = running;
    output =
        new BufferedReader(
            new InputStreamReader(running.process().getInputStream(), StandardCharsets.UTF_8));
  }

  /** Starts a call. */
  public static Grpcurl call(ServerProcess server, String method, String json) {
    return new Grpcurl(Polyglot.GRPCURL.start("-plaintext", "-d", json, server.address(), method));
  }

  /** Starts a command that takes no message, such as {@code list}. */
  public static Grpcurl ask(ServerProcess server, String... words) {
    List<String> line = new ArrayList<>(List.of("-plaintext", server.address()));
    line.addAll(List.of(words));
    return new Grpcurl(Polyglot.GRPCURL.start(line.toArray(String[]::new)));
  }

  /** Starts to hold a lock until killed. */
  public static Grpcurl acquire(ServerProcess server, String lock) {
    return call(
        server, "lockkeeper.v1.LockService/Acquire", "{\"locks\":[{\"name\":\"" + lock + "\"}]}");
  }

  /** Waits for a line that contains the text, and returns it. */
  public String awaitLine(String text) {
    try {
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        if (line.contains(text)) {
          return line;
        }
      }
      throw new AssertionError("grpcurl ended without " + text + ": " + running.said());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits for the grant and returns its token. */
  public long awaitToken() {
    // While it waits, it is told the token of the one who holds.
    awaitLine("\"granted\"");
    Matcher token = TOKEN.matcher(awaitLine("fencingToken"));
    if (!token.find()) {
      throw new AssertionError("not a token: " + token);
    }
    return Long.parseLong(token.group(1));
  }

  /** Waits for the end, and returns all that was said, what went wrong included. */
  public String awaitAll() {
    try {
      StringBuilder all = new StringBuilder();
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        all.append(line).append('\n');
      }
      running.awaitExit();
      return all.append(running.said()).toString();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Kills it as Ctrl-C twice would: it has no time to say goodbye. */
  @Override
  public void close() {
    running.close();
  }
}
