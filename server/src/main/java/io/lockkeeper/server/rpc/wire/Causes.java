package io.lockkeeper.server.rpc.wire;

/** Says in words why something failed, for an operator. */
public final class Causes {

  private Causes() {}

  /** Returns the message of the innermost cause that has one. */
  public static String inWords(Throwable failure) {
    String words = failure.getClass().getSimpleName();
    int depth = 0;
    for (Throwable cause = failure; cause != null && depth < 10; cause = cause.getCause()) {
      if (cause.getMessage() != null) {
        words = cause.getMessage();
      }
      depth++;
    }
    return words;
  }
}
