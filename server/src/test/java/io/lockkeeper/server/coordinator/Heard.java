package io.lockkeeper.server.coordinator;

import static org.awaitility.Awaitility.await;

import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LeaseEnd;
import io.lockkeeper.server.core.api.Notice;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

/** A listener that remembers what it hears. */
class Heard implements Coordinator.AcquisitionListener, Coordinator.SessionListener {
  final List<Notice> notices = new CopyOnWriteArrayList<>();
  final List<Long> sequences = new CopyOnWriteArrayList<>();
  final List<RefusedException> refusals = new CopyOnWriteArrayList<>();
  final List<LeaseEnd> ends = new CopyOnWriteArrayList<>();
  final CompletableFuture<Void> superseded = new CompletableFuture<>();
  final CompletableFuture<Failure> sentAway = new CompletableFuture<>();

  @Override
  public void onNotice(String requestId, long epoch, long sequence, Notice notice) {
    notices.add(notice);
    sequences.add(sequence);
  }

  @Override
  public void onRefused(RefusedException why) {
    refusals.add(why);
  }

  @Override
  public void onRefused(String requestId, RefusedException why) {
    refusals.add(why);
  }

  @Override
  public void onLeaseEnded(LeaseEnd end, String message) {
    ends.add(end);
  }

  @Override
  public void onSentAway(Failure why) {
    sentAway.complete(why);
  }

  @Override
  public void onSuperseded() {
    superseded.complete(null);
  }

  /** Waits until it is refused something. */
  RefusedException refusal() {
    await().until(() -> !refusals.isEmpty());
    return refusals.get(0);
  }

  /** Waits for a notice. */
  <T extends Notice> T hear(Class<T> kind) {
    await().until(() -> notices.stream().anyMatch(kind::isInstance));
    return notices.stream().filter(kind::isInstance).map(kind::cast).findFirst().orElseThrow();
  }
}
