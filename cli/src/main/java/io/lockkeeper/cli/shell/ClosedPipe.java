package io.lockkeeper.cli.shell;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.util.Optional;

/**
 * Notices that whoever read our standard output has gone, even when there is nothing to write. The
 * JDK cannot; GNU {@code tail -f} does for the pipe that it writes to, and that is what is used
 * where it is there. Elsewhere, nothing is noticed before the next line.
 */
public final class ClosedPipe implements AutoCloseable {

  /** 128 + SIGPIPE. */
  private static final int BROKEN_PIPE = 141;

  private final Optional<Process> tail;

  /** Runs {@code whenClosed} once, on any thread, when nobody reads standard output any more. */
  public ClosedPipe(Runnable whenClosed) {
    tail = start();
    tail.ifPresent(
        process -> {
          var unused =
              process
                  .onExit()
                  .thenAccept(
                      ended -> {
                        if (ended.exitValue() == BROKEN_PIPE) {
                          whenClosed.run();
                        }
                      });
        });
  }

  private static Optional<Process> start() {
    if (!Terminal.isStandardOutputPipe()) {
      return Optional.empty();
    }
    try {
      String self = Long.toString(ProcessHandle.current().pid());
      return Optional.of(
          new ProcessBuilder("tail", "--pid=" + self, "-f", "/dev/null")
              .redirectInput(Redirect.PIPE)
              .redirectOutput(Redirect.INHERIT)
              .redirectError(Redirect.DISCARD)
              .start());
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  @Override
  public void close() {
    tail.ifPresent(Process::destroy);
  }
}
