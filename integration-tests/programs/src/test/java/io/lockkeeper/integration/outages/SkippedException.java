package io.lockkeeper.integration.outages;

/** Something cannot be tried on this machine. */
final class SkippedException extends RuntimeException {

  private static final long serialVersionUID = 1;

  SkippedException(String why) {
    super(why);
  }
}
