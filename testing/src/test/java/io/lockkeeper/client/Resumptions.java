package io.lockkeeper.client;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Writes down what a listener hears, resumptions included. */
final class Resumptions {

  private final List<String> events = new CopyOnWriteArrayList<>();

  List<String> events() {
    return List.copyOf(events);
  }

  /** Returns a listener that writes down what it hears, or one that does not. */
  LockListener of(boolean writes) {
    return writes ? new Writer() : LockListener.NONE;
  }

  private final class Writer implements LockListener {
    @Override
    public void onQueued(int ahead, List<Contender> holders) {
      events.add("queued " + ahead + " behind " + holders.get(0).holder());
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
}
