package io.lockkeeper.client.internal.telemetry;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LossReason;
import java.util.Optional;

/** Is told what becomes of requests for locks. Must not block. */
public interface Observer {

  /** A request was made; called in the thread that made it. */
  ObservedRequest onRequested(LockRequest request);

  /** Is told what becomes of one request. Called on the client's loop. */
  interface ObservedRequest {

    /** Returns the W3C trace context that the server shall continue, if there is one. */
    default Optional<String> traceparent() {
      return Optional.empty();
    }

    /** The locks are held. */
    void onGranted(LockHandle handle);

    /** The locks were not granted; nothing follows. */
    void onNotGranted(Outcome outcome, Throwable why);

    /** After a grant, once: the locks are not held any more; empty: they were released. */
    void onEnded(Optional<LossReason> lost);
  }
}
