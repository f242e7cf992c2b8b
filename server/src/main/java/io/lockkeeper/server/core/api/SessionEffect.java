package io.lockkeeper.server.core.api;

import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.SessionKey;
import java.util.List;

/** Something that the core wants done with one lock session. */
public sealed interface SessionEffect extends Effect {

  /**
   * Open a lock session.
   *
   * @param session the session
   */
  record OpenSession(SessionKey session) implements SessionEffect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.openSession(this);
    }
  }

  /**
   * Adopt another coordinator's lock session. Answered by {@link SessionEvent.SessionAdopted}, or
   * by {@link SessionEvent.SessionEnded} if somebody else was first or the session is gone.
   *
   * @param session what it is called here from now on
   * @param claim the name of its claim record
   */
  record AdoptSession(SessionKey session, String claim) implements SessionEffect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.adoptSession(this);
    }
  }

  /**
   * Close a lock session whose entries are no longer wanted.
   *
   * @param session the session
   */
  record CloseSession(SessionKey session) implements SessionEffect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.closeSession(this);
    }
  }

  /**
   * Prove a lock session with a quorum write.
   *
   * @param session the session
   */
  record ProveSession(SessionKey session) implements SessionEffect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.proveSession(this);
    }
  }

  /**
   * Say in the log what was lost with a lock session.
   *
   * @param session the session
   * @param locks what was held on it
   */
  record ReportLosses(SessionKey session, List<LockName> locks) implements SessionEffect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.reportLosses(this);
    }
  }
}
