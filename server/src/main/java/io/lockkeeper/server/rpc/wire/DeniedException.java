package io.lockkeeper.server.rpc.wire;

/** The caller may not do what he asks for. */
public final class DeniedException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** Makes one; the message names the identity and the missing right. */
  public DeniedException(String message) {
    super(message);
  }
}
