package io.lockkeeper.server.core.session;

import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.core.queue.Entry;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.CoreState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Says which endings count as locks that were lost with their session, and collects those locks
 * until it is certain what becomes of it: clients count from their own side and give up a moment
 * earlier, one by one.
 */
public final class LossReport {

  private final CoreState core;
  private final SessionPool pool;
  private final Map<SessionKey, List<LockName>> lost = new HashMap<>();

  public LossReport(CoreState core, SessionPool pool) {
    this.core = core;
    this.pool = pool;
  }

  /** Returns what a client is told as it is counted. */
  public Notice counted(Acquisition acquisition, Notice told) {
    SessionKey session = acquisition.lease().session();
    if (!isLostWith(session, acquisition, told)) {
      return told;
    }
    List<LockName> locks = lost.computeIfAbsent(session, key -> new ArrayList<>());
    acquisition.holds().forEach(hold -> locks.add(hold.lock()));
    return new Notice.Lost(Notice.LossReason.SESSION_LOST, "");
  }

  private boolean isLostWith(SessionKey session, Acquisition acquisition, Notice told) {
    if (told instanceof Notice.Lost ending) {
      return switch (ending.reason()) {
        case SESSION_LOST -> true;
        case LEASE_CLOSED, STREAM_BROKEN, COORDINATOR_LEFT -> pool.isAllButLost(session);
        case LEASE_EXPIRED, REMOVED, FORCED, MAX_HOLD -> false;
      };
    }
    return told instanceof Notice.NotAcquired ending
        && ending.reason() == Notice.RefusalReason.SESSION_LOST
        && isHeldElsewhere(acquisition);
  }

  /** Returns whether what waits here was granted elsewhere, as far as anybody knows. */
  private boolean isHeldElsewhere(Acquisition acquisition) {
    return acquisition.wasGranted()
        || (acquisition.adoptedState().isPresent()
            && acquisition.holds().stream()
                .allMatch(hold -> hold.entryIn(core.mirror).filter(Entry::holds).isPresent()));
  }

  /** It is certain what becomes of a session: says what was lost with it. */
  public void report(SessionKey session) {
    List<LockName> locks = lost.remove(session);
    if (locks != null) {
      core.emit(new Effect.ReportLosses(session, locks));
    }
  }
}
