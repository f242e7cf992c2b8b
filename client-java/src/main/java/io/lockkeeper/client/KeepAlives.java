package io.lockkeeper.client;

import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;

/** Remembers when each keep-alive was sent, so that its acknowledgment counts from there. */
final class KeepAlives {

  /** More than this many without an answer: the oldest are forgotten. */
  private static final int CAPACITY = 64;

  private final TreeMap<Long, Long> sentAtByNonce = new TreeMap<>();
  private long lastNonce;

  /** Notes a keep-alive that is being sent now and returns its nonce. */
  long sent(long nowNanos) {
    if (sentAtByNonce.size() == CAPACITY) {
      sentAtByNonce.pollFirstEntry();
    }
    sentAtByNonce.put(++lastNonce, nowNanos);
    return lastNonce;
  }

  /** Returns when the keep-alive was sent; empty if it is unknown or was answered before. */
  OptionalLong answered(long nonce) {
    Long sentAt = sentAtByNonce.remove(nonce);
    return sentAt == null ? OptionalLong.empty() : OptionalLong.of(sentAt);
  }

  /** Returns for how long the oldest keep-alive has had no answer; zero: all have one. */
  long longestSilenceNanos(long nowNanos) {
    Map.Entry<Long, Long> oldest = sentAtByNonce.firstEntry();
    return oldest == null ? 0 : nowNanos - oldest.getValue();
  }

  /** Returns whether one has had no answer. */
  boolean isWaiting() {
    return !sentAtByNonce.isEmpty();
  }

  /** Forgets what has no answer: those that went over a stream that is gone get none. */
  void forget() {
    sentAtByNonce.clear();
  }
}
