package io.lockkeeper.server.rpc;

/**
 * A well-formed request for what this server does not offer. Carries no stack trace: it is an
 * answer, not a bug.
 */
final class NotOfferedException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final String field;

  /**
   * Names what is not offered.
   *
   * @param field the path of the field that asks for it, empty for a whole call
   * @param reason what is not offered
   */
  NotOfferedException(String field, String reason) {
    super(reason, null, false, false);
    this.field = field;
  }

  /** Returns the path of the field, empty for a whole call. */
  String field() {
    return field;
  }
}
