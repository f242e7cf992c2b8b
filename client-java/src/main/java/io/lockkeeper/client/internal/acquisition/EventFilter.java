package io.lockkeeper.client.internal.acquisition;

import com.google.protobuf.Duration;
import io.lockkeeper.client.internal.protocol.Protos;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.QueuePosition;
import io.lockkeeper.v1.ReleaseRequested;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Decides which of the server's events are new to one acquisition. Events are ordered by the epoch
 * of the lease and their number in it. On a new stream, and in a higher epoch, a server may tell
 * once more with a new number what was told before. On the client's loop only.
 */
final class EventFilter {

  /** How far the ends of two deadlines may differ that are the same one, told twice. */
  private static final long SAME_DEADLINE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private long lastEpoch;
  private long lastSequence;
  private List<QueuePosition> positions = List.of();
  private Optional<Asked> asked = Optional.empty();
  private boolean mayRepeatReleaseRequest;

  /** A request to give way, and when its deadline ends. */
  private record Asked(ReleaseRequested what, long endNanos) {

    static Asked of(ReleaseRequested request, long nowNanos) {
      ReleaseRequested.Builder lasting = request.toBuilder();
      if (request.hasDeadline()) {
        lasting.setDeadline(Duration.getDefaultInstance());
      }
      return new Asked(lasting.build(), nowNanos + Protos.toNanos(request.getDeadline()));
    }

    boolean isSameAs(Asked other) {
      return what.equals(other.what)
          && (!what.hasDeadline() || Math.abs(endNanos - other.endNanos) <= SAME_DEADLINE_NANOS);
    }
  }

  /** A new stream is open, at whichever server. */
  void onOpened() {
    mayRepeatReleaseRequest = true;
  }

  /** Returns whether the event comes after all before it. */
  boolean isNext(AcquireResponse event) {
    if (event.getEpoch() > lastEpoch) {
      mayRepeatReleaseRequest |= lastEpoch > 0;
      lastEpoch = event.getEpoch();
      lastSequence = 0;
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

  /**
   * Returns whether the holder has not heard of this request to give way. Only the first after a
   * new stream or a takeover may be one that was told before: whoever asks twice, is told twice.
   */
  boolean isNewReleaseRequest(ReleaseRequested request, long nowNanos) {
    Asked now = Asked.of(request, nowNanos);
    boolean repeated = mayRepeatReleaseRequest && asked.filter(now::isSameAs).isPresent();
    mayRepeatReleaseRequest = false;
    asked = Optional.of(now);
    return !repeated;
  }
}
