package io.lockkeeper.bench.runner;

import java.util.Arrays;
import java.util.Locale;

/** Whose locks are measured. */
enum Subject {
  /** ZooKeeper alone, every write by itself: the limit without batching. */
  RAW_ASYNC,
  /** ZooKeeper alone, writes in transactions of up to a hundred: the limit with batching. */
  RAW_MULTI,
  /** The same, and every write is seen by a recursive watch first: the limit of a mirror. */
  MIRRORED_MULTI,
  /** Curator's InterProcessMutex. */
  CURATOR,
  /** Lockkeeper. */
  LOCKKEEPER,
  /** Bare gRPC, one message there and back at a time: the limit of handing on one lock. */
  PING_PONG,
  /** The lock service of etcd. */
  ETCD,
  /** Redisson's RLock, which is not fair. */
  REDISSON,
  /** Redisson's fair lock. */
  REDISSON_FAIR,
  /** Redisson's RLock on a Redis that does not force its writes to the disk. */
  REDISSON_NOFSYNC;

  /** Returns the name in tables, results and settings. */
  String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Finds a subject by its label. */
  static Subject of(String label) {
    return Arrays.stream(values())
        .filter(subject -> subject.label().equals(label))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no such system: " + label));
  }
}
