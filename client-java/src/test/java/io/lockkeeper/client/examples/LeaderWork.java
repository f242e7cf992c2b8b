package io.lockkeeper.client.examples;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockListener;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.LossReason;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Leads while it holds a lock, and stops in time when it does not. */
final class LeaderWork implements LockListener {

  private final LockkeeperClient client;
  private CompletableFuture<LockHandle> candidacy = new CompletableFuture<>();
  private volatile Optional<LockHandle> leadership = Optional.empty();

  LeaderWork(LockkeeperClient client) {
    this.client = client;
  }

  /** Queues up; {@link #onGranted} says when it is this one's turn. */
  void campaign() {
    candidacy = client.acquire(LockRequest.of("leader").listener(this));
  }

  /** To be asked before every step of the work, rather than once. */
  boolean isLeading() {
    return leadership.filter(LockHandle::isValid).isPresent();
  }

  /** Leaves the queue, or the throne. */
  void resign() {
    candidacy.cancel(true);
    leadership.ifPresent(LockHandle::close);
  }

  @Override
  public void onGranted(LockHandle handle) {
    leadership = Optional.of(handle);
  }

  @Override
  public void onLost(LockHandle handle, LossReason reason) {
    leadership = Optional.empty();
  }
}
