package io.lockkeeper.cli.call;

import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.client.LockkeeperException;
import io.lockkeeper.client.NotAcquiredException;
import io.lockkeeper.client.RequestRefusedException;
import io.lockkeeper.client.ServerUnavailableException;
import java.util.concurrent.CompletionException;

/** Says in words, and by an exit code, why a client's request has failed. */
public final class ClientFailures {

  private ClientFailures() {}

  /**
   * Returns what a command ends with. What a server says may quote others: their names must not
   * steer the terminal.
   *
   * @param error what the client has thrown, or a future has failed with
   * @param options which servers were asked
   * @param notAcquired the exit code where a lock was not acquired
   */
  public static RuntimeException of(Throwable error, ServerOptions options, int notAcquired) {
    Throwable cause = error;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    String message = Text.plain(String.valueOf(cause.getMessage()));
    if (cause instanceof NotAcquiredException) {
      return new CliException(notAcquired, message, cause);
    }
    if (cause instanceof ServerUnavailableException gone) {
      return new CliException(
          ExitCodes.UNAVAILABLE,
          gone.failures().isEmpty()
              ? message
              : new Servers(options)
                  .unavailable(
                      gone.failures().stream().map(line -> "  " + Text.plain(line)).toList()),
          cause);
    }
    if (cause instanceof RequestRefusedException refused) {
      return new CliException(ExitCodes.FAILED, message + Servers.whoWeAre(refused.code()), cause);
    }
    if (cause instanceof LockkeeperException) {
      return new CliException(ExitCodes.FAILED, message, cause);
    }
    return cause instanceof RuntimeException unchecked
        ? unchecked
        : new IllegalStateException(cause);
  }
}
