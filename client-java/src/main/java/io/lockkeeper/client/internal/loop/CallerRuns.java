package io.lockkeeper.client.internal.loop;

/**
 * Which callers run the tasks of a {@link Loop} themselves. The loop's own thread runs all others.
 */
public enum CallerRuns {
  /** None: the loop's thread runs all tasks. */
  NEVER(0, 0),
  /**
   * Threads that have received something over a connection run all tasks that there are; other
   * callers run only the task that they submit, so that its consequences do not delay them.
   */
  RECEIVERS(1, CallerRuns.MANY),
  /** All callers run all tasks that there are. No task may block. */
  ALWAYS(CallerRuns.MANY, CallerRuns.MANY);

  /** Mostly enough to run all that there are, and few enough to return soon. */
  static final int MANY = 256;

  private final int callerTasks;
  private final int receiverTasks;

  CallerRuns(int callerTasks, int receiverTasks) {
    this.callerTasks = callerTasks;
    this.receiverTasks = receiverTasks;
  }

  /** Returns how many tasks, about, a caller runs at most. */
  int callerTasks() {
    return callerTasks;
  }

  /** Returns how many tasks, about, a thread runs at most that has received something. */
  int receiverTasks() {
    return receiverTasks;
  }
}
