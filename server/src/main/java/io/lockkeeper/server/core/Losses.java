package io.lockkeeper.server.core;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Says which endings count as locks that were lost with their session, and collects those locks
 * until it is certain what becomes of it: clients count from their own side and give up a moment
 * earlier, one by one.
 */
final class Losses {

  private final World world;
  private final Sessions sessions;
  private final Map<SessionKey, List<LockName>> lost = new HashMap<>();

  Losses(World world, Sessions sessions) {
    this.world = world;
    this.sessions = sessions;
  }

  /** Returns what a client is told as it is counted. */
  Notice counted(Ticket ticket, Notice told) {
    SessionKey session = ticket.lease().session();
    if (!isLostWith(session, ticket, told)) {
      return told;
    }
    List<LockName> locks = lost.computeIfAbsent(session, key -> new ArrayList<>());
    ticket.holds().forEach(hold -> locks.add(hold.lock()));
    return new Notice.Lost(Notice.LossReason.SESSION_LOST, "");
  }

  private boolean isLostWith(SessionKey session, Ticket ticket, Notice told) {
    if (told instanceof Notice.Lost ending) {
      return ending.reason() == Notice.LossReason.SESSION_LOST
          || (ending.reason() == Notice.LossReason.LEASE_CLOSED && sessions.isAllButLost(session));
    }
    return told instanceof Notice.NotAcquired ending
        && ending.reason() == Notice.RefusalReason.SESSION_LOST
        && isHeldElsewhere(ticket);
  }

  /** Returns whether what waits here was granted elsewhere, as far as anybody knows. */
  private boolean isHeldElsewhere(Ticket ticket) {
    return ticket.wasGranted()
        || (ticket.revival().isPresent()
            && ticket.holds().stream()
                .allMatch(hold -> hold.entryIn(world.mirror).filter(Entry::holds).isPresent()));
  }

  /** It is certain what becomes of a session: says what was lost with it. */
  void report(SessionKey session) {
    List<LockName> locks = lost.remove(session);
    if (locks != null) {
      world.emit(new SessionEffect.ReportLosses(session, locks));
    }
  }
}
