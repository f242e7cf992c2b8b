package io.lockkeeper.server.testing;

import java.io.IOException;
import java.io.UncheckedIOException;

/** Sends signals to processes that a test started. */
public final class Signals {

  private Signals() {}

  /** Sends {@code signal}, such as {@code STOP}, to the process {@code pid}. */
  public static void send(long pid, String signal) {
    try {
      String command = "kill -" + signal + " " + pid; // Of the shell: small images have no other.
      int code = new ProcessBuilder("sh", "-c", command).inheritIO().start().waitFor();
      if (code != 0) {
        throw new IllegalStateException(command + " ended with " + code);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
