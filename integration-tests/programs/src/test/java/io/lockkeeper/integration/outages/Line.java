package io.lockkeeper.integration.outages;

import java.util.List;

/**
 * What one outage cost.
 *
 * @param outage what happened
 * @param where to whom, and who else was there
 * @param gap the longest time for which a client had to wait for its next grant
 * @param ownGap the longest time for which ZooKeeper itself took no write
 * @param lost how many locks were lost
 * @param twice how often two held a lock at once
 * @param told what clients were told
 * @param logged what coordinators logged
 * @param floor what is demanded
 * @param broken what falls short of that; nothing if all is well
 */
record Line(
    String outage,
    String where,
    String gap,
    String ownGap,
    String lost,
    String twice,
    String told,
    String logged,
    String floor,
    List<String> broken) {

  static final String HEAD =
      """
      | Outage | Where | Longest gap in grants | ZooKeeper took no write for | Locks lost | Two holders at once | Clients were told | Logged | Floor |
      |---|---|---|---|---|---|---|---|---|
      """;

  /** Returns a line without figures. */
  static Line without(String outage, String why, List<String> broken) {
    return new Line(outage, why, "", "", "", "", "", "", "", broken);
  }

  @Override
  public String toString() {
    String verdict = broken.isEmpty() ? "" : " **missed**";
    List<String> cells =
        List.of(outage, where, gap, ownGap, lost, twice, told, logged, floor + verdict);
    return "| " + String.join(" | ", cells) + " |";
  }
}
