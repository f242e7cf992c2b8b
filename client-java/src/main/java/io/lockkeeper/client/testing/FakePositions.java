package io.lockkeeper.client.testing;

import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Position;
import io.lockkeeper.v1.QueuePosition;
import java.util.List;
import java.util.Optional;

/** Tells those who wait where they stand. */
final class FakePositions {

  private static final int MAX_HOLDERS_TOLD = 16;

  private final FakeState state;

  FakePositions(FakeState state) {
    this.state = state;
  }

  /** Returns the places in the queues that the acquisition still waits in. */
  List<QueuePosition> of(FakeAcquisition waiting) {
    return waiting.waitingEntries().stream().map(this::place).toList();
  }

  AcquireResponse.Builder event(FakeAcquisition waiting) {
    return AcquireResponse.newBuilder()
        .setPosition(Position.newBuilder().addAllPositions(of(waiting)));
  }

  /** Tells the place after each interval in which it has changed. */
  void tellEvery(FakeAcquisition waiting, long intervalNanos) {
    List<Integer> told = ahead(waiting);
    waiting.positions =
        Optional.of(
            state.loop.schedule(
                intervalNanos,
                () -> {
                  if (!ahead(waiting).equals(told)) {
                    waiting.tell(event(waiting));
                  }
                  tellEvery(waiting, intervalNanos);
                }));
  }

  /** Tells all who wait for the lock: a holder says something else of itself. */
  void tellAll(FakeQueue queue) {
    queue.waiters().stream().map(e -> e.creator).forEach(a -> a.tell(event(a)));
  }

  private static List<Integer> ahead(FakeAcquisition waiting) {
    return waiting.waitingEntries().stream().map(e -> e.queue.entries.indexOf(e)).toList();
  }

  private QueuePosition place(FakeEntry entry) {
    return QueuePosition.newBuilder()
        .setName(entry.queue.lock)
        .setAhead(entry.queue.entries.indexOf(entry))
        .addAllHolders(
            FakeQueue.contenders(entry.queue.holders(), MAX_HOLDERS_TOLD, state.loop.nanos()))
        .build();
  }
}
