package io.lockkeeper.client.internal.lease;

import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * The keep-alives without an answer and when each was sent: an acknowledgment counts from there.
 */
public final class KeepAlives {

  /** With more than this many unanswered, the oldest are forgotten. */
  private static final int CAPACITY = 64;

  private final TreeMap<Long, Long> sentAtByNonce = new TreeMap<>();
  private long lastNonce;

  /** Records a keep-alive that is sent now and returns its nonce. */
  public long sent(long nowNanos) {
    if (sentAtByNonce.size() == CAPACITY) {
      sentAtByNonce.pollFirstEntry();
    }
    sentAtByNonce.put(++lastNonce, nowNanos);
    return lastNonce;
  }

  /**
   * Returns when the keep-alive was sent; empty if it is unknown, or it or a later one was answered
   * before: an answer does for those before it.
   */
  public OptionalLong answered(long nonce) {
    Long sentAt = sentAtByNonce.get(nonce);
    if (sentAt == null) {
      return OptionalLong.empty();
    }
    sentAtByNonce.headMap(nonce, true).clear();
    return OptionalLong.of(sentAt);
  }

  /** Returns whether the keep-alive was sent and has no answer. */
  boolean isUnanswered(long nonce) {
    return sentAtByNonce.containsKey(nonce);
  }

  /** Returns how long the oldest keep-alive has been unanswered; zero: all are answered. */
  public long longestSilenceNanos(long nowNanos) {
    Map.Entry<Long, Long> oldest = sentAtByNonce.firstEntry();
    return oldest == null ? 0 : nowNanos - oldest.getValue();
  }

  /** Returns whether one is unanswered. */
  boolean isWaiting() {
    return !sentAtByNonce.isEmpty();
  }

  /** Forgets what is unanswered: what was sent on a stream that is gone gets no answer. */
  public void forget() {
    sentAtByNonce.clear();
  }
}
