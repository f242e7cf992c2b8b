package io.lockkeeper.server.core.api;

import io.lockkeeper.server.core.lock.Freeze;
import java.util.Set;

/**
 * Something about the frozen prefixes. Those of the mirror arrive in ZooKeeper's order with its
 * other events, so that whose entry was created after a freeze is seen after the freeze.
 */
public sealed interface FreezeEvent extends StoreEvent {

  /**
   * A prefix is frozen from here on; what its record says follows.
   *
   * @param prefix the prefix
   */
  record Appeared(String prefix) implements FreezeEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onFreezeAppeared(this);
    }
  }

  /**
   * The record of a frozen prefix was read: for the first time, again, or since it was replaced.
   *
   * @param freeze what it says
   * @param zxid the transaction that wrote it
   */
  record Read(Freeze freeze, long zxid) implements FreezeEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onFreezeRead(this);
    }
  }

  /**
   * A prefix is frozen no more.
   *
   * @param prefix the prefix
   */
  record Vanished(String prefix) implements FreezeEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onFreezeVanished(this);
    }
  }

  /**
   * All frozen prefixes at this place in the order of events: part of each rebuild of the mirror.
   *
   * @param prefixes the prefixes
   */
  record Listed(Set<String> prefixes) implements FreezeEvent {

    /** Copies the prefixes. */
    public Listed {
      prefixes = Set.copyOf(prefixes);
    }

    @Override
    public void applyTo(EventHandler handler) {
      handler.onFreezesListed(this);
    }
  }

  /**
   * A prefix was frozen or thawed, or could not be.
   *
   * @param number the change's number
   * @param outcome what came of it
   */
  record Answered(long number, Outcome outcome) implements FreezeEvent {
    @Override
    public void applyTo(EventHandler handler) {
      handler.onFreezeAnswered(this);
    }
  }

  /** What came of a change. */
  enum Outcome {
    /** It is made. */
    DONE,
    /** There was nothing to thaw. */
    NOT_FROZEN,
    /** It is not certain whether it is made. */
    FAILED
  }
}
