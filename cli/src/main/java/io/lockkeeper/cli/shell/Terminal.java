package io.lockkeeper.cli.shell;

import java.io.IOException;

/** Knows whether a person is looking. */
public final class Terminal {

  private Terminal() {}

  /** Returns whether standard error is a terminal. The JDK cannot say; the shell can. */
  public static boolean isStandardError() {
    try {
      return new ProcessBuilder("sh", "-c", "test -t 2")
              .inheritIO()
              .start()
              .onExit()
              .join()
              .exitValue()
          == 0;
    } catch (IOException e) {
      return false;
    }
  }
}
