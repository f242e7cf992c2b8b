package io.lockkeeper.cli;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageOrBuilder;
import com.google.protobuf.util.JsonFormat;

/** Writes messages as JSON, one to a line, the same JSON that grpcurl prints. */
final class Json {

  private static final JsonFormat.Printer PRINTER =
      JsonFormat.printer().omittingInsignificantWhitespace();

  private Json() {}

  /** Returns the message on one line. */
  static String line(MessageOrBuilder message) {
    try {
      return PRINTER.print(message);
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("no Any in our messages, so nothing to resolve", e);
    }
  }
}
