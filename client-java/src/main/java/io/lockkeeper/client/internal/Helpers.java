package io.lockkeeper.client.internal;

/**
 * Which threads do what a {@link Loop} has to do, apart from its own: the one that gives it a task
 * while it is idle.
 */
public enum Helpers {
  /** None: all is done on the loop's thread. */
  NOBODY(0, 0),
  /**
   * Those that bring what came over a connection do all that there is; others only the task that
   * they give, so that they are not kept by what the task may lead to.
   */
  CARRIERS(1, Helpers.MANY),
  /** All, for as much as there is. No task may block. */
  ANYBODY(Helpers.MANY, Helpers.MANY);

  /** Enough to get to the end mostly, and few enough to be back soon. */
  static final int MANY = 256;

  private final int guestTasks;
  private final int carrierTasks;

  Helpers(int guestTasks, int carrierTasks) {
    this.guestTasks = guestTasks;
    this.carrierTasks = carrierTasks;
  }

  /** Returns how many tasks, about, somebody who gives one does at most. */
  int guestTasks() {
    return guestTasks;
  }

  /** Returns how many somebody does who brings what came over a connection. */
  int carrierTasks() {
    return carrierTasks;
  }
}
