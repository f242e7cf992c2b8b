package io.lockkeeper.bench.load;

/**
 * What a load has done.
 *
 * @param cycles acquires whose release has completed
 * @param nanos in how long
 * @param cpuNanos what the load's own process took of the processors in that time
 * @param acquire from the call to the grant
 * @param failure why the order could not be carried out; empty: it was
 */
public record Report(long cycles, long nanos, long cpuNanos, Latency acquire, String failure) {

  /** Returns the report of an order that failed. */
  public static Report failed(Throwable cause) {
    return new Report(0, 1, 0, Latency.NONE, cause.toString());
  }

  /** Returns cycles a second. */
  public double cyclesPerSecond() {
    return cycles * 1e9 / nanos;
  }
}
