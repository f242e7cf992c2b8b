package io.lockkeeper.server.rpc.call;

/**
 * What all calls of the server together may hold in memory, and the count of what was refused for
 * it.
 */
public final class CallBudgets {

  private final ByteBudget partial;
  private final ByteBudget unread;
  private final RefusalCounts refusals;

  /** Makes budgets that are whole. */
  public CallBudgets(ServerLimits limits, RefusalCounts refusals) {
    this.partial = new ByteBudget(limits.partialBytes());
    this.unread = new ByteBudget(limits.unreadBytes());
    this.refusals = refusals;
  }

  /** Returns budgets that are never used up, for calls that no server counts. */
  static CallBudgets unlimited() {
    return new CallBudgets(
        new ServerLimits(0, 0, 0, 0, Long.MAX_VALUE, Long.MAX_VALUE), new RefusalCounts());
  }

  /** Returns that of requests that have not arrived whole. */
  ByteBudget partial() {
    return partial;
  }

  /** Returns that of what waits for slow readers. */
  ByteBudget unread() {
    return unread;
  }

  RefusalCounts refusals() {
    return refusals;
  }
}
