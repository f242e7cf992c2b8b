package io.lockkeeper.client;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;

/** Writes down what a listener hears. */
final class Recording implements LockListener {

  private final List<String> events = new CopyOnWriteArrayList<>();

  List<String> events() {
    return List.copyOf(events);
  }

  @Override
  public void onQueued(int ahead, List<Contender> holders) {
    events.add(
        "queued "
            + ahead
            + " behind "
            + holders.stream().map(Contender::holder).collect(Collectors.joining(",")));
  }

  @Override
  public void onGranted(LockHandle handle) {
    events.add("granted");
  }

  @Override
  public void onReleaseRequested(LockHandle handle, ReleaseRequest request) {
    events.add("asked by " + request.requester() + ": " + request.reason());
  }

  @Override
  public void onContended(LockHandle handle, int waiters) {
    events.add("contended " + waiters);
  }

  @Override
  public void onJeopardy(LockHandle handle, Duration validFor) {
    events.add("jeopardy " + validFor);
  }

  @Override
  public void onSafe(LockHandle handle, Duration validFor) {
    events.add("safe " + validFor);
  }

  @Override
  public void onResumed(LockHandle handle, Duration away) {
    events.add("resumed");
  }

  @Override
  public void onAboutToExpire(LockHandle handle, Duration remaining) {
    events.add("about to expire");
  }

  @Override
  public void onLost(LockHandle handle, LossReason reason) {
    events.add("lost " + reason);
  }
}
