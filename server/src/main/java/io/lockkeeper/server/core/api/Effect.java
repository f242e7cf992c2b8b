package io.lockkeeper.server.core.api;

import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.SessionKey;
import java.util.List;

/**
 * Something that the core wants done: its only output. The loop carries effects out in their order.
 */
public interface Effect {

  /** Hands the effect to its handler; an effect without one does not compile. */
  void applyTo(EffectHandler handler);

  /**
   * Tell a stream what happened to an acquisition.
   *
   * @param stream the stream
   * @param requestId the acquisition's name
   * @param epoch the lease's epoch
   * @param sequence numbers the notices of one acquisition from 1 within the epoch
   * @param notice what happened
   */
  record Tell(StreamId stream, String requestId, long epoch, long sequence, Notice notice)
      implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.tell(this);
    }
  }

  /**
   * Count something that happened to an acquisition, whether or not a stream hears of it. Comes
   * once for each notice, not again when it is told again.
   *
   * @param occurrence what happened
   */
  record Count(Occurrence occurrence) implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.count(this);
    }
  }

  /**
   * Tell a stream that an acquisition could not be taken.
   *
   * @param stream the stream
   * @param requestId the acquisition's name
   * @param failure why
   */
  record Refuse(StreamId stream, String requestId, Failure failure) implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.refuse(this);
    }
  }

  /**
   * Tell a lease's stream that the lease has ended.
   *
   * @param stream the stream
   * @param end why
   * @param message why, human-readable, may be empty
   */
  record TellLeaseEnd(StreamId stream, LeaseEnd end, String message) implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.tellLeaseEnd(this);
    }
  }

  /**
   * Tell a stream that another has taken its place.
   *
   * @param stream the stream
   */
  record Supersede(StreamId stream) implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.supersede(this);
    }
  }

  /**
   * Tell a lease's stream that it ends here and that the lease can be resumed: elsewhere, or here.
   *
   * @param stream the stream
   * @param why MOVED or UNAVAILABLE
   */
  record SendAway(StreamId stream, Failure why) implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.sendAway(this);
    }
  }

  /**
   * Answer a call.
   *
   * @param call the call
   * @param answer the answer
   */
  record Reply(CallId call, Answer answer) implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.reply(this);
    }
  }

  /**
   * Tell the watchers.
   *
   * @param change what changed
   */
  record Publish(LockChange change) implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.publish(this);
    }
  }

  /**
   * Tell the watchers that the mirror is whole again and that changes may be missing.
   *
   * @param reason why, human-readable
   */
  record PublishGap(String reason) implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.publishGap(this);
    }
  }

  /**
   * Say in the log what was lost with a lock session.
   *
   * @param session the session
   * @param locks what was held on it
   */
  record ReportLosses(SessionKey session, List<LockName> locks) implements Effect {
    @Override
    public void applyTo(EffectHandler handler) {
      handler.reportLosses(this);
    }
  }
}
