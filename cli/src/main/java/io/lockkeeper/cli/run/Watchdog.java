package io.lockkeeper.cli.run;

import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * Ends the command if this process dies without having a say, killed or out of memory: nobody would
 * renew the lease then, and the command must not outlive its lock. A shell that reads from a pipe
 * of ours; the end of the pipe is the alarm.
 */
final class Watchdog implements AutoCloseable {

  private static final String SCRIPT =
      """
      trap '' INT TERM HUP
      if read -r word && [ "$word" = over ]; then exit 0; fi
      tree() ( for p in "$@"; do tree $(pgrep -P "$p"); echo "$p"; done )
      # Once its parent has died, a process is nobody's descendant any more.
      all=$(tree "$1")
      kill -TERM $all 2>/dev/null
      sleep "$2"
      kill -KILL $(tree $all) 2>/dev/null
      """;

  private final OutputStream pipe;

  private Watchdog(OutputStream pipe) {
    this.pipe = pipe;
  }

  /**
   * Watches over {@code child}.
   *
   * @param killAfter how long after TERM to send KILL
   * @throws CliException if there is no {@code sh}
   */
  static Watchdog over(Child child, Duration killAfter) {
    try {
      Process shell =
          new ProcessBuilder(
                  "sh",
                  "-c",
                  SCRIPT,
                  "lockkeeper-watchdog",
                  Long.toString(child.pid()),
                  Long.toString(Math.max(1, killAfter.toSeconds())))
              .redirectOutput(Redirect.DISCARD)
              .redirectError(Redirect.DISCARD)
              .start();
      return new Watchdog(shell.getOutputStream());
    } catch (IOException e) {
      throw new CliException(
          ExitCodes.FAILED, "cannot start sh to watch over the command: " + e.getMessage(), e);
    }
  }

  /** Calls it off: the command has ended. */
  @Override
  public void close() {
    try (pipe) {
      pipe.write("over\n".getBytes(StandardCharsets.US_ASCII));
    } catch (IOException e) {
      // The shell is gone, and with it what it might have done.
      return;
    }
  }
}
