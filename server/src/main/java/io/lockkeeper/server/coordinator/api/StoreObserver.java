package io.lockkeeper.server.coordinator.api;

/** Measures what a store does. Called on the store's thread: must not block or throw. */
public interface StoreObserver {

  /** Observes nothing. */
  StoreObserver NONE =
      new StoreObserver() {
        @Override
        public void onCommitted(int writes, long nanos) {}

        @Override
        public void onMirrored(long nanos) {}

        @Override
        public void onRebuilt(long nanos) {}
      };

  /**
   * A transaction was committed.
   *
   * @param writes how many writes it carried
   * @param nanos how long after it was sent the answer came
   */
  void onCommitted(int writes, long nanos);

  /**
   * The mirror has shown an entry of ours. Not all are looked at.
   *
   * @param nanos how long after the answer to its creation; zero if it came first
   */
  void onMirrored(long nanos);

  /**
   * The mirror is whole again.
   *
   * @param nanos how long reading all queues back has taken
   */
  void onRebuilt(long nanos);
}
