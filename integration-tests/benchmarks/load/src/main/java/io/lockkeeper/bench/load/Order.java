package io.lockkeeper.bench.load;

/**
 * What a load is to do: so many clients, each of which acquires and releases without a pause.
 *
 * @param shape which locks the clients ask for
 * @param clients how many clients there are
 * @param warmMillis how long they work, from the first cycle on, before anything is counted
 * @param millis how long is counted, at most
 * @param cycles after how many cycles counting ends earlier; 0: never
 * @param run makes names unique that must be; the caller counts it up
 */
public record Order(Shape shape, int clients, long warmMillis, long millis, long cycles, long run) {

  /** Which locks clients ask for. */
  public enum Shape {
    /** Each client has its own lock. */
    OWN,
    /** All clients ask for one lock. */
    HOT,
    /** Every acquire asks for a lock that was never seen before. */
    NAMES,
    /**
     * Each client has its own lock and holds it from its beginning to its end; what it acquires and
     * releases is one more level of that hold.
     */
    REENTRY
  }

  /** Checks the ranges. */
  public Order {
    if (clients < 1 || warmMillis < 0 || millis < 1 || cycles < 0) {
      throw new IllegalArgumentException("no order: " + clients + " clients, " + millis + " ms");
    }
  }

  /** Returns the name of the lock that a client asks for in its {@code turn}-th cycle. */
  public String lock(int client, long turn) {
    return switch (shape) {
      case OWN -> "bench/own-" + client;
      case HOT -> "bench/hot";
      case NAMES -> "names/" + run + "-" + client + "-" + turn;
      case REENTRY -> "bench/reentry-" + client;
    };
  }
}
