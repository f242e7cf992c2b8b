package io.lockkeeper.server.rpc.call;

/** Arithmetic of turns that are taken one after the other, each so long. */
final class Turns {

  private Turns() {}

  /**
   * Returns until when turns are taken once there is one more.
   *
   * @param until until when they were, in nanoseconds of any clock; may be long ago
   * @param most how far from now that may be at most
   */
  static long oneMore(long until, long now, long nanos, long most) {
    return now + Math.min(most, Math.max(0, until - now) + nanos);
  }
}
