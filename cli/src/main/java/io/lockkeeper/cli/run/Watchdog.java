package io.lockkeeper.cli.run;

import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/**
 * Ends the command if this process dies without having a say, killed or out of memory: nobody would
 * renew the lease then, and the command must not outlive its lock. A shell that reads from a pipe
 * of ours; the end of the pipe is the alarm. It is there before the command, of which it lacks
 * nothing but the process id, and hears that as soon as there is one.
 */
final class Watchdog implements AutoCloseable {

  private static final long BEGIN_SECONDS = 10;

  private static final String SCRIPT =
      """
      trap '' INT QUIT TERM HUP
      echo; exec >/dev/null
      read -r pid seconds && [ "$pid" != over ] || exit 0
      if read -r word && [ "$word" = over ]; then exit 0; fi
      tree() ( for p in "$@"; do tree $(pgrep -P "$p"); echo "$p"; done )
      # Once its parent has died, a process is nobody's descendant any more.
      all=$(tree "$pid")
      kill -TERM $all 2>/dev/null
      sleep "$seconds"
      kill -KILL $(tree $all) 2>/dev/null
      """;

  private final OutputStream pipe;

  private Watchdog(OutputStream pipe) {
    this.pipe = pipe;
  }

  /**
   * Returns one that no key of a terminal ends.
   *
   * @throws CliException if there is no {@code sh}
   */
  static Watchdog start() {
    try {
      Process shell =
          new ProcessBuilder("sh", "-c", SCRIPT, "lockkeeper-watchdog")
              .redirectError(Redirect.DISCARD)
              .start();
      awaitBegin(shell);
      return new Watchdog(shell.getOutputStream());
    } catch (IOException e) {
      throw failure("cannot start sh to watch over the command", e);
    }
  }

  private static void awaitBegin(Process shell) throws IOException {
    try {
      int begun =
          CompletableFuture.supplyAsync(() -> readByte(shell))
              .orTimeout(BEGIN_SECONDS, TimeUnit.SECONDS)
              .join();
      if (begun < 0) {
        throw new IOException("it has ended");
      }
    } catch (CompletionException e) {
      shell.destroyForcibly();
      throw new IOException("it has not begun within " + BEGIN_SECONDS + " s", e);
    }
  }

  private static int readByte(Process shell) {
    try {
      return shell.getInputStream().read();
    } catch (IOException e) {
      return -1;
    }
  }

  /**
   * Watches over {@code child}.
   *
   * @param killAfter how long after TERM to send KILL
   * @throws CliException if it is not there any more
   */
  void watch(Child child, Duration killAfter) {
    try {
      say(child.pid() + " " + Math.max(1, killAfter.toSeconds()));
    } catch (IOException e) {
      throw failure("the shell that watches over the command is gone", e);
    }
  }

  /** Calls it off: the command has ended. */
  @Override
  public void close() {
    try (pipe) {
      say("over");
    } catch (IOException e) {
      // The shell is gone, and with it what it might have done.
      return;
    }
  }

  private void say(String line) throws IOException {
    pipe.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
    pipe.flush();
  }

  private static CliException failure(String what, IOException e) {
    return new CliException(ExitCodes.FAILED, what + ": " + e.getMessage(), e);
  }
}
