package io.lockkeeper.cli.shell;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Knows whether a person is looking, and how much he sees. */
public final class Terminal {

  private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
  private static final String DEVICE = "unix:rdev";
  private static final Pattern TERMINAL = Pattern.compile("/dev/(pts/\\d+|tty.*|console)");

  /** What stat(2) has in the mode of a file. */
  private static final int TYPE = 0170000;

  private static final int PIPE = 0010000;
  private static final int SOCKET = 0140000;
  private static final Pattern SIZE = Pattern.compile("(\\d+) (\\d+)");

  private Terminal() {}

  /**
   * How much fits on a terminal.
   *
   * @param rows lines, above zero
   * @param columns characters in a line, above zero
   */
  public record Size(int rows, int columns) {

    /** What is assumed where nobody says. */
    public static final Size USUAL = new Size(24, 80);
  }

  /** Returns whether standard input is a terminal. */
  public static boolean isStandardInput() {
    return isTerminal(0);
  }

  /** Returns whether standard input is {@code /dev/null}, as services have it. */
  public static boolean isStandardInputNull() {
    try {
      // Not the same file: a private /dev has one of its own.
      return Files.getAttribute(Path.of("/dev/stdin"), DEVICE)
          .equals(Files.getAttribute(Path.of("/dev/null"), DEVICE));
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
      return false;
    }
  }

  /** Returns whether standard output is a terminal. */
  public static boolean isStandardOutput() {
    return isTerminal(1);
  }

  /**
   * Returns whether some of what was printed to {@code out}, or else to standard output, could not
   * be written. The writer of picocli has standard output below it, which tells nobody but us.
   */
  public static boolean isOutputLost(PrintWriter out) {
    return out.checkError() || System.out.checkError();
  }

  /** Returns whether standard output is a pipe or a socket, whose reader may have enough of it. */
  public static boolean hasStandardOutputAReader() {
    int type = standardOutputType();
    return type == PIPE || type == SOCKET;
  }

  /** Returns whether standard output is a pipe, with a name or without. */
  public static boolean isStandardOutputPipe() {
    return standardOutputType() == PIPE;
  }

  private static int standardOutputType() {
    try {
      return (Integer) Files.getAttribute(Path.of("/dev/stdout"), "unix:mode") & TYPE;
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
      return 0;
    }
  }

  /** Returns whether standard error is a terminal. */
  public static boolean isStandardError() {
    return isTerminal(2);
  }

  /** The JDK cannot say. Linux can without another process; elsewhere, the shell. */
  private static boolean isTerminal(int descriptor) {
    try {
      Path target = Files.readSymbolicLink(DESCRIPTORS.resolve(Integer.toString(descriptor)));
      return TERMINAL.matcher(target.toString()).matches();
    } catch (IOException | UnsupportedOperationException e) {
      return isToTheShell("test -t " + descriptor);
    }
  }

  private static boolean isToTheShell(String test) {
    try {
      Process shell = new ProcessBuilder("sh", "-c", test).inheritIO().start();
      return shell.onExit().join().exitValue() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  /** Returns how much fits on the terminal that standard input is. */
  public static Size size() {
    return run("stty size")
        .map(SIZE::matcher)
        .filter(Matcher::find)
        .map(found -> new Size(Integer.parseInt(found.group(1)), Integer.parseInt(found.group(2))))
        .filter(size -> size.rows() > 0 && size.columns() > 0)
        .orElse(Size.USUAL);
  }

  /**
   * Lets keys through as they are typed, unseen, until closed; reading one waits for {@code tenths}
   * of a second at most. Empty where the terminal cannot do that.
   *
   * @param tenths 1 to 255
   */
  public static Optional<AutoCloseable> keys(int tenths) {
    return run("stty -g")
        .filter(before -> run("stty -icanon -echo min 0 time " + tenths).isPresent())
        .map(before -> () -> run("stty " + before.strip()));
  }

  /** Returns what a shell command prints; empty if it fails. It sees our standard input. */
  private static Optional<String> run(String command) {
    try {
      Process shell =
          new ProcessBuilder("sh", "-c", command)
              .redirectInput(Redirect.INHERIT)
              .redirectError(Redirect.DISCARD)
              .start();
      String printed = new String(shell.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      return shell.onExit().join().exitValue() == 0 ? Optional.of(printed) : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
