package io.lockkeeper.cli.text;

import com.google.protobuf.MessageOrBuilder;
import io.lockkeeper.cli.shell.Terminal;
import java.io.PrintWriter;
import java.util.function.BiConsumer;
import picocli.CommandLine.Option;

/** How a command prints what it has found. */
public final class OutputOptions {

  @Option(
      names = "--json",
      description = "Print JSON: one object, or of several things one for each, one to a line.")
  private boolean json;

  @Option(
      names = "--color",
      paramLabel = "auto|always|never",
      defaultValue = "auto",
      description =
          "Whether to print in color. auto: on a terminal, unless NO_COLOR is set. [default ${DEFAULT-VALUE}]")
  private When color = When.AUTO;

  /** When something is done. */
  enum When {
    /** Where it is fit. */
    AUTO,
    /** In any case. */
    ALWAYS,
    /** In no case. */
    NEVER
  }

  /** Returns whether JSON is wanted. */
  public boolean isJson() {
    return json;
  }

  /** Returns how words may stand out. */
  public Style style() {
    return new Style(
        switch (color) {
          case ALWAYS -> true;
          case NEVER -> false;
          case AUTO -> System.getenv("NO_COLOR") == null && Terminal.isStandardOutput();
        });
  }

  /** Prints a message: as JSON, or as {@code words} prints it. */
  public <M extends MessageOrBuilder> void print(
      M message, PrintWriter out, BiConsumer<M, PrintWriter> words) {
    Json.printOr(json, message, out, words);
  }

  /** Prints a message: as JSON, or as {@code words} says it on one line. */
  public void print(MessageOrBuilder message, PrintWriter out, String words) {
    Json.printOr(json, message, out, (unused, printer) -> printer.println(words));
  }
}
