package io.lockkeeper.server.trace;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * The spans of acquisitions that have not ended. Not all are told their ending here: requests may
 * be refused, and leases go to other coordinators. So there are only so many, and the oldest is
 * forgotten for a new one. Thread-safe.
 */
final class OpenSpans {

  private final int max;
  private final Map<UUID, AcquisitionSpan> spans = new LinkedHashMap<>();

  OpenSpans(int max) {
    this.max = max;
  }

  /** Adds a span; returns the one that is forgotten for it, if there is one. */
  synchronized Optional<AcquisitionSpan> put(UUID id, AcquisitionSpan span) {
    spans.put(id, span);
    if (spans.size() <= max) {
      return Optional.empty();
    }
    UUID eldest = spans.keySet().iterator().next();
    return Optional.ofNullable(spans.remove(eldest));
  }

  synchronized Optional<AcquisitionSpan> get(UUID id) {
    return Optional.ofNullable(spans.get(id));
  }

  synchronized Optional<AcquisitionSpan> remove(UUID id) {
    return Optional.ofNullable(spans.remove(id));
  }

  /** Removes all of them. */
  synchronized List<AcquisitionSpan> removeAll() {
    List<AcquisitionSpan> all = List.copyOf(spans.values());
    spans.clear();
    return all;
  }

  synchronized int size() {
    return spans.size();
  }
}
