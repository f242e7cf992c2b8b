package io.lockkeeper.cli.text;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageOrBuilder;
import com.google.protobuf.util.JsonFormat;
import java.io.PrintWriter;
import java.util.function.BiConsumer;

/** Writes messages as JSON, one to a line, the same JSON that grpcurl prints. */
public final class Json {

  private static final JsonFormat.Printer PRINTER =
      JsonFormat.printer().omittingInsignificantWhitespace();

  private Json() {}

  /** Prints a message: as JSON, or as {@code words} prints it. */
  public static <M extends MessageOrBuilder> void printOr(
      boolean json, M message, PrintWriter out, BiConsumer<M, PrintWriter> words) {
    if (json) {
      out.println(line(message));
    } else {
      words.accept(message, out);
    }
    out.flush();
  }

  /** Returns the message on one line. */
  public static String line(MessageOrBuilder message) {
    try {
      return PRINTER.print(message);
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("no Any in our messages, so nothing to resolve", e);
    }
  }
}
