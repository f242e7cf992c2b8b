package io.lockkeeper.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;

/**
 * What the program did with a command line.
 *
 * @param exitCode its exit code
 * @param out its standard output
 * @param err its standard error
 */
public record Cli(int exitCode, String out, String err) {

  /** Runs the program in this process. */
  public static Cli run(String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line =
        Main.commandLineFor(args).setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    int exitCode = line.execute(args);
    return new Cli(exitCode, out.toString(), err.toString());
  }
}
