package io.lockkeeper.integration.curator;

import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.LockMode;
import java.util.concurrent.CompletableFuture;

/** Somebody in a queue that both sides share. */
interface Party {

  /** Waits for the grant. */
  void awaitGrant();

  /** Returns whether the grant has come already. */
  boolean isGranted();

  /** Gives the lock back. */
  void release();

  /** Queues a client of the server. */
  static Party ours(Asking asking) {
    return new Ours(asking);
  }

  /** Queues a thread that uses Curator. */
  static Party theirs(Hand hand, Recipe recipe, String path) {
    return new Theirs(hand, recipe, path, hand.startAcquire(recipe, path));
  }

  /** Returns what the server calls a recipe. */
  static LockMode mode(Recipe recipe) {
    return switch (recipe) {
      case MUTEX, MULTI -> LockMode.LOCK_MODE_EXCLUSIVE;
      case READ -> LockMode.LOCK_MODE_READ;
      case WRITE -> LockMode.LOCK_MODE_WRITE;
    };
  }

  /**
   * A client of the server.
   *
   * @param asking its call
   */
  record Ours(Asking asking) implements Party {
    @Override
    public void awaitGrant() {
      asking.awaitGrant();
    }

    @Override
    public boolean isGranted() {
      return asking.find(EventCase.GRANTED).isPresent();
    }

    @Override
    public void release() {
      asking.release();
    }
  }

  /**
   * A thread that uses Curator.
   *
   * @param hand the thread
   * @param recipe which recipe
   * @param path the lock's directory
   * @param granted completes with the grant
   */
  record Theirs(Hand hand, Recipe recipe, String path, CompletableFuture<Boolean> granted)
      implements Party {
    @Override
    public void awaitGrant() {
      if (!CuratorProcess.join(granted, "grant of " + path)) {
        throw new AssertionError(hand.thread() + " gave up");
      }
    }

    @Override
    public boolean isGranted() {
      return granted.isDone();
    }

    @Override
    public void release() {
      hand.release(recipe, path);
    }
  }
}
