package io.lockkeeper.server.security;

import io.lockkeeper.server.core.lock.LockName;
import java.util.Optional;

/**
 * Decides who may do what, and how much. Asked on any thread, for every request and for every lock
 * that is shown; never blocks.
 */
public interface Authority {

  /** Returns whether {@code identity} has {@code right} on a lock. */
  boolean permits(Identity identity, Right right, LockName lock);

  /**
   * Returns whether it has the right on every lock whose name begins with {@code prefix}; with an
   * empty prefix, on all locks.
   */
  boolean permitsAll(Identity identity, Right right, String prefix);

  /**
   * Returns the first text, from {@code from} on, with which the name of a lock can begin that
   * {@code identity} has {@code right} on: {@code from} itself if it has the right on that lock.
   * Empty if no such text follows.
   */
  Optional<String> nextPermitted(Identity identity, Right right, String from);

  /** Returns how much one identity may have and ask for. */
  Limits limitsOf(Identity identity);

  /**
   * Returns how many acquisitions may hold or wait in a namespace on one coordinator, whoever makes
   * them.
   *
   * @param namespace the first part of a lock's name
   */
  default int maxAcquisitionsOf(String namespace) {
    return Integer.MAX_VALUE;
  }

  /** Permits everything to everybody, within {@link Limits#WITHOUT_POLICY}. */
  Authority OPEN =
      new Authority() {
        @Override
        public boolean permits(Identity identity, Right right, LockName lock) {
          return true;
        }

        @Override
        public boolean permitsAll(Identity identity, Right right, String prefix) {
          return true;
        }

        @Override
        public Optional<String> nextPermitted(Identity identity, Right right, String from) {
          return Optional.of(from);
        }

        @Override
        public Limits limitsOf(Identity identity) {
          return Limits.WITHOUT_POLICY;
        }
      };
}
