package io.lockkeeper.server.rpc.wire;

/**
 * A well-formed call that this server does not offer. Carries no stack trace: it is an answer, not
 * a bug.
 */
public final class NotOfferedException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  public NotOfferedException(String reason) {
    super(reason, null, false, false);
  }
}
