package io.lockkeeper.bench.load;

/** A system under load, as its clients see it. */
public interface LoadedSystem {

  /**
   * Makes the clients of an order ready and sets them to work.
   *
   * @param tally is told of every cycle, and of the first failure
   */
  Crew start(Order order, Tally tally) throws Exception;
}
