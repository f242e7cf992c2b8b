package io.lockkeeper.server.core.interleaving;

/**
 * Somebody in a tiny world. It is deterministic, so what it has received so far says all of it,
 * unless it can say shorter how it stands.
 */
class TinyActor {

  private long history;

  /** Takes note of what it received. */
  final void received(long what, long now) {
    history = mix(mix(history, what), now);
  }

  /** Names its state. */
  long state() {
    return history;
  }

  static long mix(long a, long b) {
    long x = (a ^ (b + 0x9E3779B97F4A7C15L + (a << 6) + (a >>> 2))) * 0xBF58476D1CE4E5B9L;
    x = (x ^ (x >>> 30)) * 0x94D049BB133111EBL;
    return x ^ (x >>> 31);
  }
}
