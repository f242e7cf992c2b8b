package io.lockkeeper.server.rpc.wire;

import io.lockkeeper.server.core.api.HoldEnd;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Contended;
import io.lockkeeper.v1.Grant;
import io.lockkeeper.v1.Granted;
import io.lockkeeper.v1.Jeopardy;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.Lost;
import io.lockkeeper.v1.NotAcquired;
import io.lockkeeper.v1.NotAcquiredReason;
import io.lockkeeper.v1.Position;
import io.lockkeeper.v1.PreviousEnd;
import io.lockkeeper.v1.QueuePosition;
import io.lockkeeper.v1.Queued;
import io.lockkeeper.v1.ReleaseRequested;
import io.lockkeeper.v1.Released;
import io.lockkeeper.v1.Safe;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Translates what an acquisition is told into events of the contract. */
public final class Notices {

  private Notices() {}

  /**
   * Returns the event; {@code sequence} is zero for an answer that is not one of the numbered
   * events.
   *
   * @param readable of which locks the client may be told who holds them and who waits
   */
  public static AcquireResponse.Builder toEvent(
      String requestId, long epoch, long sequence, Notice notice, Predicate<LockName> readable) {
    AcquireResponse.Builder event =
        AcquireResponse.newBuilder().setRequestId(requestId).setEpoch(epoch).setSequence(sequence);
    if (notice instanceof Notice.Queued queued) {
      event.setQueued(Queued.newBuilder().addAllPositions(toPositions(queued.places(), readable)));
    } else if (notice instanceof Notice.Position position) {
      event.setPosition(
          Position.newBuilder().addAllPositions(toPositions(position.places(), readable)));
    } else if (notice instanceof Notice.Granted granted) {
      event.setGranted(toGranted(granted));
    } else if (notice instanceof Notice.ReleaseRequested wish) {
      event.setReleaseRequested(toWish(wish));
    } else if (notice instanceof Notice.Contended contended) {
      event.setContended(toContended(contended));
    } else if (notice instanceof Notice.Jeopardy jeopardy) {
      event.setJeopardy(
          Jeopardy.newBuilder().setValidFor(ProtoDurations.ofNanos(jeopardy.validForNanos())));
    } else if (notice instanceof Notice.Safe safe) {
      event.setSafe(Safe.newBuilder().setValidFor(ProtoDurations.ofNanos(safe.validForNanos())));
    } else if (notice instanceof Notice.Lost lost) {
      event.setLost(toLost(lost));
    } else if (notice instanceof Notice.NotAcquired refused) {
      event.setNotAcquired(
          NotAcquired.newBuilder()
              .setReason(toReason(refused.reason()))
              .setMessage(inWords(refused, readable))
              .addAllHolders(
                  new Contenders()
                      .toMessages(
                          refused.holders(),
                          Contenders.FEW,
                          refused.locks().stream().allMatch(readable))));
    } else if (notice instanceof Notice.Released) {
      event.setReleased(Released.getDefaultInstance());
    } else {
      throw new IllegalStateException("no event for " + notice.getClass());
    }
    return event;
  }

  private static String inWords(Notice.NotAcquired refused, Predicate<LockName> readable) {
    return refused.message()
        + refused.cycle().map(cycle -> ": " + inWords(cycle, readable)).orElse("");
  }

  private static String inWords(Notice.WaitCycle cycle, Predicate<LockName> readable) {
    String steps =
        cycle.steps().stream()
            .map(step -> readable.test(step.lock()) ? inWords(step) : inWordsWithoutNames(step))
            .collect(Collectors.joining("; "));
    return cycle.untold() > 0 ? steps + "; and " + cycle.untold() + " more" : steps;
  }

  private static String inWords(Notice.WaitCycle.Step step) {
    return step.waiter()
        + " waits for lock '"
        + step.lock()
        + "', which "
        + step.obstacle()
        + (step.holds() ? " holds" : " waits for before it");
  }

  private static String inWordsWithoutNames(Notice.WaitCycle.Step step) {
    return "somebody waits for a lock that you may not read, which somebody else "
        + (step.holds() ? "holds" : "waits for before him");
  }

  private static List<QueuePosition> toPositions(
      List<Notice.Place> places, Predicate<LockName> readable) {
    Contenders contenders = new Contenders();
    return places.stream().map(place -> toPosition(place, contenders, readable)).toList();
  }

  private static QueuePosition toPosition(
      Notice.Place place, Contenders contenders, Predicate<LockName> readable) {
    QueuePosition.Builder message =
        QueuePosition.newBuilder()
            .setName(place.lock().value())
            .setAhead(place.ahead())
            .addAllHolders(
                contenders.toMessages(
                    place.holders(), Contenders.FEW, readable.test(place.lock())));
    place.frozen().ifPresent(frozen -> message.setFrozen(Messages.toFrozen(frozen)));
    return message.build();
  }

  private static Granted toGranted(Notice.Granted granted) {
    Granted.Builder message =
        Granted.newBuilder()
            .setLeaseId(granted.lease().toString())
            .setValidFor(ProtoDurations.ofNanos(granted.validForNanos()));
    for (Notice.Grant grant : granted.grants()) {
      message.addGrants(
          Grant.newBuilder()
              .setName(grant.lock().value())
              .setFencingToken(grant.token().value())
              .setHoldCount(grant.holdCount())
              .setWaiters(grant.waiters())
              .setPreviousEnd(
                  grant
                      .previous()
                      .map(Notices::toPreviousEnd)
                      .orElse(PreviousEnd.PREVIOUS_END_UNSPECIFIED)));
    }
    return message.build();
  }

  static PreviousEnd toPreviousEnd(HoldEnd end) {
    return switch (end) {
      case RELEASED -> PreviousEnd.PREVIOUS_END_RELEASED;
      case CANCELLED -> PreviousEnd.PREVIOUS_END_CANCELLED;
      case LEASE_ENDED -> PreviousEnd.PREVIOUS_END_LEASE_EXPIRED;
      case SESSION_LOST -> PreviousEnd.PREVIOUS_END_COORDINATOR_LOST;
      case FORCED -> PreviousEnd.PREVIOUS_END_FORCED;
      case LOST -> PreviousEnd.PREVIOUS_END_LOST;
      case WITHDRAWN, UNKNOWN -> PreviousEnd.PREVIOUS_END_UNSPECIFIED;
    };
  }

  private static ReleaseRequested toWish(Notice.ReleaseRequested wish) {
    ReleaseRequested.Builder message =
        ReleaseRequested.newBuilder()
            .setName(wish.lock().value())
            .setRequester(wish.requester())
            .setReason(wish.reason());
    wish.leftNanos().ifPresent(nanos -> message.setDeadline(ProtoDurations.ofNanos(nanos)));
    return message.build();
  }

  private static Contended toContended(Notice.Contended contended) {
    Contended.Builder message =
        Contended.newBuilder().setName(contended.lock().value()).setWaiters(contended.waiters());
    contended.frozen().ifPresent(frozen -> message.setFrozen(Messages.toFrozen(frozen)));
    return message.build();
  }

  private static Lost toLost(Notice.Lost lost) {
    return Lost.newBuilder()
        .setReason(toReason(lost.reason()))
        .setMessage(lost.message().isEmpty() ? inWords(lost.reason()) : lost.message())
        .build();
  }

  private static LossReason toReason(Notice.LossReason reason) {
    return switch (reason) {
      case LEASE_EXPIRED -> LossReason.LOSS_REASON_LEASE_EXPIRED;
      case LEASE_CLOSED, STREAM_BROKEN, COORDINATOR_LEFT -> LossReason.LOSS_REASON_LEASE_CLOSED;
      case SESSION_LOST -> LossReason.LOSS_REASON_SESSION_LOST;
      case REMOVED -> LossReason.LOSS_REASON_REMOVED;
      case FORCED -> LossReason.LOSS_REASON_FORCED;
      case MAX_HOLD -> LossReason.LOSS_REASON_MAX_HOLD;
    };
  }

  private static String inWords(Notice.LossReason reason) {
    return switch (reason) {
      case LEASE_EXPIRED -> "the lease was not renewed in time";
      case LEASE_CLOSED -> "the lease was closed";
      case STREAM_BROKEN -> "the call that was the lease has broken off";
      case COORDINATOR_LEFT -> "the coordinator leaves, and the call that was the lease with it";
      case SESSION_LOST ->
          "the coordinator's ZooKeeper session ended, or could not be proved alive in time";
      case REMOVED -> "the entry was removed from ZooKeeper by others";
      case FORCED -> "an operator took the lock away";
      case MAX_HOLD -> "it was held for as long as max_hold allows";
    };
  }

  private static NotAcquiredReason toReason(Notice.RefusalReason reason) {
    return switch (reason) {
      case TIMED_OUT -> NotAcquiredReason.NOT_ACQUIRED_REASON_TIMED_OUT;
      case QUEUE_FULL -> NotAcquiredReason.NOT_ACQUIRED_REASON_QUEUE_FULL;
      case WITHDRAWN -> NotAcquiredReason.NOT_ACQUIRED_REASON_WITHDRAWN;
      case LEASE_ENDED -> NotAcquiredReason.NOT_ACQUIRED_REASON_LEASE_ENDED;
      case SESSION_LOST -> NotAcquiredReason.NOT_ACQUIRED_REASON_SESSION_LOST;
      case REMOVED -> NotAcquiredReason.NOT_ACQUIRED_REASON_REMOVED;
      case WOULD_DEADLOCK -> NotAcquiredReason.NOT_ACQUIRED_REASON_WOULD_DEADLOCK;
      case LIMIT_TOO_SMALL -> NotAcquiredReason.NOT_ACQUIRED_REASON_LIMIT_TOO_SMALL;
    };
  }
}
