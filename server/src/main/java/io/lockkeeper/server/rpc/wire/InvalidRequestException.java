package io.lockkeeper.server.rpc.wire;

/** A request with a malformed field. Carries no stack trace: it is an answer, not a bug. */
public final class InvalidRequestException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final String field;

  /**
   * Names what is wrong.
   *
   * @param field the path of the field, such as {@code locks[0].name}
   * @param description what is wrong with it: names the limit and what was sent
   */
  InvalidRequestException(String field, String description) {
    super(description, null, false, false);
    this.field = field;
  }

  /** Returns the path of the field. */
  String field() {
    return field;
  }

  /** Returns what is wrong with the field. */
  String description() {
    return String.valueOf(getMessage());
  }
}
