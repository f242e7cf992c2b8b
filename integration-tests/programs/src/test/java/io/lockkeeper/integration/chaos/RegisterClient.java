package io.lockkeeper.integration.chaos;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;

/** A connection to the {@link RegisterServer}, of one thread. Records what it asks and hears. */
final class RegisterClient implements AutoCloseable {

  private final Socket socket;
  private final BufferedReader answers;
  private final History history;

  RegisterClient(int port, History history) {
    try {
      socket = new Socket(InetAddress.getLoopbackAddress(), port);
      socket.setTcpNoDelay(true);
      answers =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    this.history = history;
  }

  /** Reads a number and writes one more; says false if the token was found to be stale. */
  boolean increment(String acquisition, String name, long token) {
    OptionalLong before = ask(acquisition, "read", name, token, 0, "R " + name + " " + token);
    if (before.isEmpty()) {
      return false;
    }
    long next = before.getAsLong() + 1;
    String line = "W " + name + " " + token + " " + next;
    return ask(acquisition, "write", name, token, next, line).isPresent();
  }

  private OptionalLong ask(
      String acquisition, String what, String name, long token, long value, String line) {
    history
        .line(what)
        .with("a", acquisition)
        .with("lock", name)
        .with("token", token)
        .with("value", value)
        .write();
    try {
      socket.getOutputStream().write((line + "\n").getBytes(StandardCharsets.US_ASCII));
      String[] words = answers.readLine().split(" ", -1);
      boolean ok = words[0].equals("ok");
      long number = Long.parseLong(words[1]);
      history.line("answer").with("a", acquisition).with("ok", ok).with("value", number).write();
      return ok ? OptionalLong.of(number) : OptionalLong.empty();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
