package io.lockkeeper.conformance;

/** The client did not do what the contract asks of it. */
final class Unmet extends RuntimeException {

  private static final long serialVersionUID = 1;

  Unmet(String what) {
    super(what);
  }

  /** Throws unless {@code met}. */
  static void unless(boolean met, String what) {
    if (!met) {
      throw new Unmet(what);
    }
  }
}
