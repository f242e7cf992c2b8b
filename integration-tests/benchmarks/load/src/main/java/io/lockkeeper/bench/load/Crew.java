package io.lockkeeper.bench.load;

/** Clients at work. */
public interface Crew {

  /** Lets every client end its cycle, and returns when all have. */
  void stop() throws Exception;
}
