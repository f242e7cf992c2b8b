package io.lockkeeper.client.internal.acquisition;

import com.google.protobuf.Duration;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.QueuePosition;
import io.lockkeeper.v1.ReleaseRequested;
import java.util.List;
import java.util.Optional;

/**
 * Decides which of the server's events are new to one acquisition. Events are ordered by the epoch
 * of the lease and their number in it. In a higher epoch, another server starts over: it may tell
 * once more what its predecessor has told, and does not repeat a warning that no longer holds. On
 * the client's loop only.
 */
final class EventFilter {

  private long lastEpoch;
  private long lastSequence;
  private List<QueuePosition> positions = List.of();
  private Optional<ReleaseRequested> releaseRequest = Optional.empty();
  private boolean mayRepeatReleaseRequest;
  private boolean inJeopardy;
  private boolean mayBeSafe;

  /** A new stream is open, at whichever server. */
  void onOpened() {
    mayBeSafe = inJeopardy;
  }

  /** Returns whether the event comes after all before it. */
  boolean isNext(AcquireResponse event) {
    if (event.getEpoch() > lastEpoch) {
      lastEpoch = event.getEpoch();
      lastSequence = 0;
      mayRepeatReleaseRequest = true;
    }
    if (event.getEpoch() < lastEpoch || event.getSequence() <= lastSequence) {
      return false;
    }
    lastSequence = event.getSequence();
    return true;
  }

  /** Returns whether these positions differ from the last ones, apart from elapsed times. */
  boolean areNew(List<QueuePosition> now) {
    List<QueuePosition> lasting = now.stream().map(EventFilter::withoutTimes).toList();
    boolean differ = !lasting.equals(positions);
    positions = lasting;
    return differ;
  }

  private static QueuePosition withoutTimes(QueuePosition position) {
    QueuePosition.Builder lasting = position.toBuilder();
    for (Contender.Builder holder : lasting.getHoldersBuilderList()) {
      holder.clearQueuedFor().clearHeldFor();
      if (holder.hasReleaseIn()) {
        holder.setReleaseIn(Duration.getDefaultInstance());
      }
    }
    return lasting.build();
  }

  /** Returns whether a jeopardy, its end, or a request for release is new to the holder. */
  boolean isNewWarning(AcquireResponse event) {
    if (event.hasReleaseRequested()) {
      return isNewReleaseRequest(event.getReleaseRequested());
    }
    boolean repeated = event.hasJeopardy() && inJeopardy;
    inJeopardy = event.hasJeopardy();
    mayBeSafe = false;
    return !repeated;
  }

  private boolean isNewReleaseRequest(ReleaseRequested now) {
    ReleaseRequested.Builder lasting = now.toBuilder();
    if (now.hasDeadline()) {
      lasting.setDeadline(Duration.getDefaultInstance());
    }
    boolean repeated =
        mayRepeatReleaseRequest && releaseRequest.filter(lasting.build()::equals).isPresent();
    releaseRequest = Optional.of(lasting.build());
    return !repeated;
  }

  /**
   * The server has answered a keep-alive, which it does after all that it had to tell at the
   * resume. Returns whether a jeopardy that another server told of is therefore over.
   */
  boolean isSafeAgain() {
    boolean safe = mayBeSafe;
    mayBeSafe = false;
    inJeopardy &= !safe;
    return safe;
  }
}
