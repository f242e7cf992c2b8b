package io.lockkeeper.conformance;

/** The client cannot do what the scenario is about, and need not. */
final class LeftOut extends RuntimeException {

  private static final long serialVersionUID = 1L;

  LeftOut(String why) {
    super(why);
  }
}
