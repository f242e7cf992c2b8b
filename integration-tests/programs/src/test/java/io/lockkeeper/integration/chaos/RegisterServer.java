package io.lockkeeper.integration.chaos;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the locks protect: one number for each name, guarded by the highest fencing token that it
 * was shown. A line each way over TCP: {@code R name token} and {@code W name token value} are
 * answered {@code ok value}, or {@code stale highest} if the token is below the highest.
 */
final class RegisterServer implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(RegisterServer.class);
  private static final int BACKLOG = 256;

  private final ServerSocket listener;
  private final Map<String, Register> registers = new HashMap<>();

  private record Register(long highestToken, long value) {}

  RegisterServer() {
    try {
      listener = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    daemon(this::acceptAll);
  }

  int port() {
    return listener.getLocalPort();
  }

  private void acceptAll() {
    try {
      while (true) {
        Socket client = listener.accept();
        daemon(() -> serve(client));
      }
    } catch (IOException e) {
      LOG.atDebug().setCause(e).log("the registers take no more clients");
    }
  }

  private void serve(Socket client) {
    try (client;
        BufferedReader lines =
            new BufferedReader(
                new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII))) {
      client.setTcpNoDelay(true);
      OutputStream answers = client.getOutputStream();
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        answers.write((answer(line.split(" ", -1)) + "\n").getBytes(StandardCharsets.US_ASCII));
      }
    } catch (IOException e) {
      LOG.atDebug().setCause(e).log("a client of the registers is gone");
    }
  }

  private synchronized String answer(String[] words) {
    String name = words[1];
    long token = Long.parseLong(words[2]);
    Register now = registers.getOrDefault(name, new Register(0, 0));
    if (token < now.highestToken()) {
      return "stale " + now.highestToken();
    }
    long value = words[0].equals("W") ? Long.parseLong(words[3]) : now.value();
    registers.put(name, new Register(token, value));
    return "ok " + value;
  }

  private static void daemon(Runnable task) {
    Thread thread = new Thread(task, "register");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
