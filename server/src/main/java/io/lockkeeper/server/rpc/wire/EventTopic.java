package io.lockkeeper.server.rpc.wire;

import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.lock.LockName;
import java.util.Optional;

/**
 * What an event is about that other clients can cause any number of times: the place of a request,
 * or a request to release a lock. Only the newest event of a topic counts, and the client can do
 * without it.
 *
 * @param requestId the acquisition
 * @param lock the lock that the holder is asked to release; empty for the place of a request
 */
public record EventTopic(String requestId, Optional<LockName> lock) {

  /** Returns the topic of a notice; empty if every notice of its kind counts. */
  public static Optional<EventTopic> of(String requestId, Notice notice) {
    if (notice instanceof Notice.ReleaseRequested asked) {
      return Optional.of(new EventTopic(requestId, Optional.of(asked.lock())));
    }
    return notice instanceof Notice.Position
        ? Optional.of(new EventTopic(requestId, Optional.empty()))
        : Optional.empty();
  }
}
