package io.lockkeeper.server.zookeeper.client;

import io.lockkeeper.server.coordinator.api.StoreObserver;

/**
 * Measures by how much the mirror is behind what this coordinator has written: one creation at a
 * time, from its answer until the mirror has come as far. Lives on the store's thread.
 */
public final class MirrorLag {

  private static final long NONE = Long.MAX_VALUE;

  private final StoreObserver observer;
  private long seen;
  private long awaited = NONE;
  private long answeredAtNanos;

  /** Makes one that has seen nothing yet. */
  public MirrorLag(StoreObserver observer) {
    this.observer = observer;
  }

  /** ZooKeeper has answered a creation of ours, of the transaction {@code zxid}. */
  public void answered(long zxid) {
    if (zxid <= seen) {
      observer.onMirrored(0);
    } else if (awaited == NONE) {
      awaited = zxid;
      answeredAtNanos = System.nanoTime();
    }
  }

  /** The mirror has seen the transaction {@code zxid}, and so all before it. */
  public void seen(long zxid) {
    seen = Math.max(seen, zxid);
    if (seen >= awaited) {
      awaited = NONE;
      observer.onMirrored(System.nanoTime() - answeredAtNanos);
    }
  }

  /** The mirror has lost its connection: what is awaited now says nothing of its lag. */
  public void forget() {
    awaited = NONE;
  }
}
