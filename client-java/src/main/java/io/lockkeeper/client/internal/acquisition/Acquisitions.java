package io.lockkeeper.client.internal.acquisition;

import io.lockkeeper.client.LockSpec;
import io.lockkeeper.client.LockkeeperException;
import io.lockkeeper.client.internal.context.ClientContext;
import io.lockkeeper.client.internal.protocol.Exclusion;
import io.lockkeeper.client.internal.protocol.LockNames;
import io.lockkeeper.client.internal.protocol.Protos;
import io.lockkeeper.client.internal.protocol.SessionRequests;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Refused;
import io.lockkeeper.v1.SessionResponse;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All acquisitions of one client by request id, in the order in which they were requested. On the
 * client's loop only.
 */
public final class Acquisitions {

  private static final Logger LOG = LoggerFactory.getLogger(Acquisitions.class);

  /** How many requests and holds one client may have. */
  private static final int CAPACITY = 10_000;

  private final ClientContext context;
  private final SessionLink session;
  private final Map<String, Acquisition> acquisitions = new LinkedHashMap<>();

  public Acquisitions(ClientContext context, SessionLink session) {
    this.context = context;
    this.session = session;
  }

  /** Adds a request; returns false, and fails it, if there are too many. */
  public boolean add(Acquisition acquisition) {
    if (acquisitions.size() >= CAPACITY) {
      acquisition.fail(
          new LockkeeperException(
              LockNames.quoted(acquisition.names())
                  + ": this client has "
                  + CAPACITY
                  + " requests and locks: release some, or use more clients"));
      return false;
    }
    acquisitions.put(acquisition.requestId(), acquisition);
    return true;
  }

  public void remove(Acquisition acquisition) {
    acquisitions.remove(acquisition.requestId());
  }

  public boolean isEmpty() {
    return acquisitions.isEmpty();
  }

  /** Returns whether {@code owner} holds a lock that excludes one of {@code locks}. */
  public boolean isHeldBy(String owner, List<LockSpec> locks) {
    return acquisitions.values().stream()
        .anyMatch(
            acquisition ->
                acquisition.isHeldBy(owner)
                    && Exclusion.between(acquisition.request().locks(), locks));
  }

  /** Does something to each, even if that adds or removes some. */
  public void forEach(Consumer<Acquisition> action) {
    List.copyOf(acquisitions.values()).forEach(action);
  }

  /** Repeats all to the server of a new stream; see {@link RepeatOrder}. */
  public void repeat(long awaySinceNanos) {
    acquisitions.values().stream()
        .sorted(Comparator.comparing(Acquisition::repeatOrder))
        .toList()
        .forEach(acquisition -> acquisition.onOpened(awaySinceNanos));
  }

  /** The server reports on one acquisition, or answers a request about one. */
  public void onResponse(SessionResponse response) {
    switch (response.getResponseCase()) {
      case EVENT -> onEvent(response.getEvent());
      case RELEASED ->
          find(response.getReleased().getRequestId())
              .ifPresent(
                  a -> a.onReleased(Protos.toReleaseResult(response.getReleased().getResult())));
      case REFUSED -> onRefused(response.getRefused());
      case RELEASE_ANSWERED ->
          find(response.getReleaseAnswered().getRequestId())
              .ifPresent(a -> a.hold().calls().onAnswered());
      case METADATA_UPDATED ->
          find(response.getMetadataUpdated().getRequestId())
              .ifPresent(a -> a.hold().calls().onAnswered());
      case OPENED, KEPT_ALIVE, WATCHED, GOING_AWAY, LEASE_ENDED, BATCH, RESPONSE_NOT_SET ->
          // Not the response itself, which may say the lease's id.
          LOG.atDebug().log("The server sent an unexpected {}", response.getResponseCase());
    }
  }

  private void onRefused(Refused refused) {
    switch (refused.getRequestCase()) {
      case ACQUIRE -> find(refused.getAcquire()).ifPresent(a -> a.onRefused(refused));
      case RELEASE -> find(refused.getRelease()).ifPresent(a -> a.onReleaseRefused(refused));
      case ANSWER_RELEASE ->
          find(refused.getAnswerRelease()).ifPresent(a -> a.hold().calls().onRefused(refused));
      case UPDATE_METADATA ->
          find(refused.getUpdateMetadata()).ifPresent(a -> a.hold().calls().onRefused(refused));
      case POSITION, WATCH, UNWATCH, KEEP_ALIVE, CLOSE, REQUEST_NOT_SET ->
          LOG.atWarn()
              .log(
                  "The server refused something that it was not asked for: {}, {}",
                  refused.getRequestCase(),
                  refused.getReason());
    }
  }

  private Optional<Acquisition> find(String requestId) {
    return Optional.ofNullable(acquisitions.get(requestId));
  }

  private void onEvent(AcquireResponse event) {
    Optional<Acquisition> known = find(event.getRequestId());
    if (known.isPresent()) {
      known.get().onEvent(event);
    } else {
      switch (event.getEventCase()) {
        case LOST,
            NOT_ACQUIRED,
            RELEASED,
            HEARTBEAT,
            EVENT_NOT_SET -> {} // Final, or of a newer server.
        case QUEUED, POSITION, GRANTED, RELEASE_REQUESTED, CONTENDED, JEOPARDY, SAFE -> {
          // Nobody here waits for it any more: it must not stay and block others.
          LOG.atDebug()
              .addKeyValue("acquisition", event.getRequestId())
              .log("Releasing an unknown request");
          release(event.getRequestId());
        }
      }
    }
  }

  /** Releases an unknown acquisition, and repeats that until it is certain or the lease is over. */
  private void release(String requestId) {
    if (acquisitions.size() >= CAPACITY) {
      session.send(SessionRequests.release(requestId, 0));
      return; // No room to remember it: the server repeats it after a resume.
    }
    Acquisition unwanted = Acquisition.unwanted(requestId, context, session);
    acquisitions.put(requestId, unwanted);
    unwanted.releaseAnything();
  }
}
