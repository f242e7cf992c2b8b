package io.lockkeeper.client;

import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.QueuePosition;
import io.lockkeeper.v1.ReleaseRequested;
import java.util.List;
import java.util.Optional;

/** Tells a holder's listener what the server said about the lock. */
final class News {

  private News() {}

  static void places(LockListener listener, List<QueuePosition> positions) {
    listener.onPlaces(
        positions.stream()
            .map(
                position ->
                    new QueuePlace(
                        position.getName(),
                        position.getAhead(),
                        Protos.toContenders(position.getHoldersList())))
            .toList());
  }

  static void lost(LockListener listener, Hold hold, LossReason reason) {
    hold.tellLost(reason);
    listener.onLost(hold, reason);
  }

  static void tell(LockListener listener, LockHandle handle, AcquireResponse event) {
    if (event.hasJeopardy()) {
      listener.onJeopardy(handle, Protos.toJava(event.getJeopardy().getValidFor()));
    } else if (event.hasSafe()) {
      listener.onSafe(handle, Protos.toJava(event.getSafe().getValidFor()));
    } else if (event.hasReleaseRequested()) {
      ReleaseRequested asked = event.getReleaseRequested();
      listener.onReleaseRequested(
          handle,
          new ReleaseRequest(
              asked.getRequester(),
              asked.getReason(),
              asked.hasDeadline()
                  ? Optional.of(Protos.toJava(asked.getDeadline()))
                  : Optional.empty()));
    }
  }
}
