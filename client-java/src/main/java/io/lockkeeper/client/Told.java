package io.lockkeeper.client;

import com.google.protobuf.Duration;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.QueuePosition;
import java.util.List;

/**
 * What has been told of one acquisition. Events are numbered, but only by one server: after a
 * resume, numbers begin anew if it is another, and what was told before may be told again. On the
 * client's loop only.
 */
final class Told {

  private long lastSequence;
  private List<QueuePosition> places = List.of();

  /** A new stream is open, at whichever server. */
  void onOpened() {
    lastSequence = 0;
  }

  /** Returns whether the event is none that came before on the same stream. */
  boolean isNext(AcquireResponse event) {
    boolean next = event.getSequence() > lastSequence;
    lastSequence = Math.max(lastSequence, event.getSequence());
    return next;
  }

  /** Returns whether these places are others than those told last. */
  boolean areNew(List<QueuePosition> now) {
    List<QueuePosition> lasting = now.stream().map(Told::withoutTimes).toList();
    boolean news = !lasting.equals(places);
    places = lasting;
    return news;
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
}
