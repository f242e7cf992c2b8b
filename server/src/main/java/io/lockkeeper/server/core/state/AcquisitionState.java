package io.lockkeeper.server.core.state;

import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.LeaseEnd;
import io.lockkeeper.server.core.api.Notice;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The life of one acquisition. Immutable: every event gives the next state and what to do.
 *
 * <pre>
 *   ENQUEUING --Created--> QUEUED --Admitted--> HELD --ReleaseAsked--> RELEASING --Deleted--> ENDED
 *       |                    |                   |
 *       | WaitExpired,       | WaitExpired,      | LeaseEnded, BoundLost, Removed, TakenAway
 *       | ReleaseAsked,      | ReleaseAsked,     |
 *       | LeaseEnded,        | LeaseEnded,       |
 *       | BoundLost, Removed | BoundLost, Removed|
 *       | TakenAway          | TakenAway         |
 *       v                    v                   v
 *   CANCELLED --Created--> LEAVING  &lt;------------+
 *       |                    |
 *       | Refused            | Deleted
 *       v                    v
 *     ENDED                ENDED           (SessionGone: from every state to ENDED)
 * </pre>
 *
 * <p>A request for what its owner holds already is Admitted while it is ENQUEUING: HELD at once.
 *
 * <p>CANCELLED is why a late create leaves no ghost in the queue: it is answered with its deletion.
 *
 * <p>A request that a clock, a rule or its own client ends while it waits is told so when its
 * entries are gone. If it were told before and the coordinator died, another one would find the
 * entries, take the request for one that still waits, and grant it to nobody. Everything else is
 * told at once: a holder must know before anybody else is let in, a lease or a session that has
 * ended is not used again, and a request without one of its entries is not restored by anybody.
 *
 * @param state where it stands
 * @param releaseOutcome what a release that arrives now will be told in the end
 * @param ending what the client is told when the entries are gone; empty if it was told
 */
public record AcquisitionState(
    State state, Answer.ReleaseOutcome releaseOutcome, Optional<Notice> ending) {

  /** Where an acquisition stands. */
  public enum State {
    /** Its entries are being created; nobody knows yet whether they exist. */
    ENQUEUING,
    /** Its entries exist and wait. */
    QUEUED,
    /** The holder was told. */
    HELD,
    /** The holder has released; the deletion is not certain yet. */
    RELEASING,
    /** It has ended, and its entries exist; the deletion is not certain yet. */
    LEAVING,
    /** It has ended while the creation was still under way. */
    CANCELLED,
    /** Nothing of it is left. */
    ENDED
  }

  /** What the acquisition wants done. */
  public sealed interface Action {
    /**
     * Tell the client.
     *
     * @param notice what
     */
    record Tell(Notice notice) implements Action {}

    /**
     * Tell the client that the request could not be taken.
     *
     * @param message why
     * @param passing whether the same request may succeed later
     */
    record Refuse(String message, boolean passing) implements Action {}

    /** Delete the entries, for certain. */
    record Delete() implements Action {}

    /**
     * Answer everybody who waits for the release.
     *
     * @param outcome with this
     */
    record AnswerReleases(Answer.ReleaseOutcome outcome) implements Action {}
  }

  /**
   * What follows from an event.
   *
   * @param next the next state
   * @param actions what to do, in this order
   */
  public record Transition(AcquisitionState next, List<Action> actions) {}

  private static final Action DELETE = new Action.Delete();

  AcquisitionState(State state, Answer.ReleaseOutcome releaseOutcome) {
    this(state, releaseOutcome, Optional.empty());
  }

  /** Returns an acquisition whose entries are being created. */
  static AcquisitionState enqueuing() {
    return new AcquisitionState(State.ENQUEUING, Answer.ReleaseOutcome.WITHDRAWN);
  }

  /** Returns an acquisition whose entries exist: what an adopted one begins as. */
  static AcquisitionState queued() {
    return new AcquisitionState(State.QUEUED, Answer.ReleaseOutcome.WITHDRAWN);
  }

  /** Returns one of which nothing is left here, and nobody was told. */
  public static AcquisitionState ended() {
    return new AcquisitionState(State.ENDED, Answer.ReleaseOutcome.ALREADY_RELEASED);
  }

  /** Returns what follows from {@code event}. */
  public Transition on(AcquisitionEvent event) {
    return event.applyTo(this);
  }

  /** Returns whether the client may use the locks. */
  public boolean isHeld() {
    return state == State.HELD;
  }

  /** Returns whether the client waits for the locks or may use them. */
  public boolean isLive() {
    return isWaiting() || isHeld();
  }

  /** Returns whether the client still waits. */
  public boolean isWaiting() {
    return state == State.ENQUEUING || state == State.QUEUED;
  }

  Transition onCreated() {
    return switch (state) {
      case ENQUEUING -> to(State.QUEUED);
      case CANCELLED ->
          new Transition(
              new AcquisitionState(State.LEAVING, releaseOutcome, ending), List.of(DELETE));
      case QUEUED, HELD, RELEASING, LEAVING, ENDED -> stay();
    };
  }

  Transition onRefused(String message, boolean passing) {
    return switch (state) {
      case ENQUEUING ->
          to(State.ENDED, new Action.Refuse(message, passing), answer(releaseOutcome));
      case CANCELLED -> end(ending);
      case QUEUED, HELD, RELEASING, LEAVING, ENDED -> stay();
    };
  }

  Transition onPlaced(Notice.Queued queued) {
    return state == State.QUEUED ? to(State.QUEUED, tell(queued)) : stay();
  }

  Transition onAdmitted(Notice.Granted granted) {
    return isWaiting()
        ? new Transition(
            new AcquisitionState(State.HELD, Answer.ReleaseOutcome.RELEASED),
            List.of(tell(granted)))
        : stay();
  }

  Transition onWaitExpired(Notice.NotAcquired ending) {
    return isWaiting() ? leave(ending, Answer.ReleaseOutcome.ALREADY_RELEASED) : stay();
  }

  Transition onReleaseAsked() {
    return switch (state) {
      case ENQUEUING, QUEUED ->
          leave(
              notAcquired(Notice.RefusalReason.WITHDRAWN, "withdrawn by the caller"),
              Answer.ReleaseOutcome.WITHDRAWN);
      case HELD -> to(State.RELEASING, DELETE);
      case RELEASING, LEAVING, CANCELLED -> stay();
      case ENDED -> to(State.ENDED, answer(Answer.ReleaseOutcome.ALREADY_RELEASED));
    };
  }

  Transition onLeaseEnded(LeaseEnd end, String message) {
    if (isWaiting() || ending.isPresent()) {
      return leaveAtOnce(
          notAcquired(
              Notice.RefusalReason.LEASE_ENDED,
              message.isEmpty() ? "the lease ended while waiting" : message));
    }
    if (isHeld() && end == LeaseEnd.CANCELLED) {
      // The client has stopped by its own decision: nobody has to wait for what it left undone.
      return to(State.RELEASING, DELETE);
    }
    return isHeld() ? lose(new Notice.Lost(lossBy(end), message)) : stay();
  }

  Transition onBoundLost() {
    if (isWaiting() || ending.isPresent()) {
      return leaveAtOnce(sessionLost());
    }
    return isHeld() ? lose(Notice.LossReason.SESSION_LOST) : stay();
  }

  Transition onRemoved() {
    if (isWaiting()) {
      return leaveAtOnce(
          notAcquired(
              Notice.RefusalReason.REMOVED,
              "the entry was removed from ZooKeeper by somebody else"));
    }
    return isHeld() ? lose(Notice.LossReason.REMOVED) : stay();
  }

  Transition onSessionGone() {
    return switch (state) {
      case ENQUEUING, QUEUED ->
          to(State.ENDED, tell(sessionLost()), answer(Answer.ReleaseOutcome.ALREADY_RELEASED));
      case HELD ->
          to(
              State.ENDED,
              tell(new Notice.Lost(Notice.LossReason.SESSION_LOST, "")),
              answer(Answer.ReleaseOutcome.ALREADY_RELEASED));
      case RELEASING -> to(State.ENDED, tell(new Notice.Released()), answer(releaseOutcome));
      case LEAVING, CANCELLED -> end(ending.map(owed -> sessionLost()));
      case ENDED -> stay();
    };
  }

  Transition onTakenAway(Notice.Lost lost) {
    if (this.ending.isPresent()) {
      return new Transition(leaving(state, releaseOutcome, lost), List.of());
    }
    // One that waits here may have been granted elsewhere.
    if (state == State.ENQUEUING) {
      return new Transition(
          new AcquisitionState(State.CANCELLED, Answer.ReleaseOutcome.ALREADY_RELEASED),
          List.of(tell(lost)));
    }
    return isHeld() || state == State.QUEUED ? lose(lost) : stay();
  }

  Transition onDeleted() {
    return switch (state) {
      case RELEASING -> to(State.ENDED, tell(new Notice.Released()), answer(releaseOutcome));
      case LEAVING -> end(ending);
      case ENQUEUING, QUEUED, HELD, CANCELLED, ENDED -> stay();
    };
  }

  /**
   * Leaves the queue before the grant: at once if the entries exist, otherwise when the creation
   * has been answered.
   */
  private Transition leave(Notice.NotAcquired told, Answer.ReleaseOutcome outcome) {
    return state == State.ENQUEUING
        ? new Transition(leaving(State.CANCELLED, outcome, told), List.of())
        : new Transition(leaving(State.LEAVING, outcome, told), List.of(DELETE));
  }

  private static AcquisitionState leaving(
      State state, Answer.ReleaseOutcome outcome, Notice ending) {
    return new AcquisitionState(state, outcome, Optional.of(ending));
  }

  /** The same where the client is told at once, whether it still waits or is to be told later. */
  private Transition leaveAtOnce(Notice.NotAcquired told) {
    if (!isWaiting()) {
      return to(state, tell(told));
    }
    AcquisitionState next =
        new AcquisitionState(
            state == State.ENQUEUING ? State.CANCELLED : State.LEAVING,
            Answer.ReleaseOutcome.ALREADY_RELEASED);
    return new Transition(
        next, next.state == State.LEAVING ? List.of(tell(told), DELETE) : List.of(tell(told)));
  }

  private Transition end(Optional<? extends Notice> told) {
    List<Action> actions = new ArrayList<>(2);
    told.ifPresent(notice -> actions.add(tell(notice)));
    actions.add(answer(releaseOutcome));
    return to(State.ENDED, List.copyOf(actions));
  }

  private Transition lose(Notice.LossReason reason) {
    return lose(new Notice.Lost(reason, ""));
  }

  private Transition lose(Notice.Lost ending) {
    return new Transition(
        new AcquisitionState(State.LEAVING, Answer.ReleaseOutcome.ALREADY_RELEASED),
        List.of(tell(ending), DELETE));
  }

  private Transition to(State next) {
    return to(next, List.of());
  }

  private Transition to(State next, Action action) {
    return to(next, List.of(action));
  }

  private Transition to(State next, Action first, Action second) {
    return to(next, List.of(first, second));
  }

  private Transition to(State next, List<Action> actions) {
    return new Transition(new AcquisitionState(next, releaseOutcome), actions);
  }

  private Transition stay() {
    return new Transition(this, List.of());
  }

  private static Action tell(Notice notice) {
    return new Action.Tell(notice);
  }

  private static Action answer(Answer.ReleaseOutcome outcome) {
    return new Action.AnswerReleases(outcome);
  }

  private static Notice.NotAcquired sessionLost() {
    return notAcquired(
        Notice.RefusalReason.SESSION_LOST, "the coordinator lost its ZooKeeper session");
  }

  private static Notice.NotAcquired notAcquired(Notice.RefusalReason reason, String message) {
    return new Notice.NotAcquired(reason, message);
  }

  private static Notice.LossReason lossBy(LeaseEnd end) {
    return switch (end) {
      case EXPIRED -> Notice.LossReason.LEASE_EXPIRED;
      case CLOSED, CANCELLED -> Notice.LossReason.LEASE_CLOSED;
      case BROKEN -> Notice.LossReason.STREAM_BROKEN;
      case COORDINATOR_LEFT -> Notice.LossReason.COORDINATOR_LEFT;
      case SESSION_LOST -> Notice.LossReason.SESSION_LOST;
      case FORCED -> Notice.LossReason.FORCED;
    };
  }
}
