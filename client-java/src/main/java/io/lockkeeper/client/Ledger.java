package io.lockkeeper.client;

import io.lockkeeper.v1.AcquireResponse;
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
 * All that a client asks for, holds and releases, in the order in which it was asked for. On the
 * client's loop only.
 */
final class Ledger {

  private static final Logger LOG = LoggerFactory.getLogger(Ledger.class);

  /** How many requests and holds one client may have. */
  private static final int CAPACITY = 10_000;

  /** Stands for a request that is known by its id only. */
  private static final LockRequest UNWANTED = LockRequest.of("unwanted");

  private final Surroundings around;
  private final Link link;
  private final Map<String, Acquisition> acquisitions = new LinkedHashMap<>();

  Ledger(Surroundings around, Link link) {
    this.around = around;
    this.link = link;
  }

  /** Takes a request, and says so; fails it if there are too many. */
  boolean add(Acquisition acquisition) {
    if (acquisitions.size() >= CAPACITY) {
      acquisition.fail(
          new LockkeeperException(
              "this client has " + CAPACITY + " requests and locks: release some, or use more"));
      return false;
    }
    acquisitions.put(acquisition.requestId(), acquisition);
    return true;
  }

  void remove(Acquisition acquisition) {
    acquisitions.remove(acquisition.requestId());
  }

  boolean isEmpty() {
    return acquisitions.isEmpty();
  }

  /** Does something to each, whatever comes and goes by that. */
  void forEach(Consumer<Acquisition> action) {
    List.copyOf(acquisitions.values()).forEach(action);
  }

  /** Tells all of it to the server of a new stream; see {@link Turn} for the order. */
  void repeat(long awaySinceNanos) {
    acquisitions.values().stream()
        .sorted(Comparator.comparing(Acquisition::turn))
        .toList()
        .forEach(acquisition -> acquisition.onOpened(awaySinceNanos));
  }

  /** The server tells of one acquisition, or answers what was asked of it about one. */
  void onResponse(SessionResponse response) {
    switch (response.getResponseCase()) {
      case EVENT -> onEvent(response.getEvent());
      case RELEASED ->
          find(response.getReleased().getRequestId())
              .ifPresent(
                  a -> a.onReleased(Protos.toReleaseResult(response.getReleased().getResult())));
      case REFUSED ->
          find(response.getRefused().getId()).ifPresent(a -> a.onRefused(response.getRefused()));
      case RELEASE_ANSWERED ->
          find(response.getReleaseAnswered().getRequestId())
              .ifPresent(a -> a.tenure().calls().onAnswered());
      case METADATA_UPDATED ->
          find(response.getMetadataUpdated().getRequestId())
              .ifPresent(a -> a.tenure().calls().onAnswered());
      case OPENED, KEPT_ALIVE, WATCHED, GOING_AWAY, LEASE_ENDED, BATCH, RESPONSE_NOT_SET ->
          LOG.atDebug().log("The server sent what was not asked for: {}", response);
    }
  }

  private Optional<Acquisition> find(String requestId) {
    return Optional.ofNullable(acquisitions.get(requestId));
  }

  private void onEvent(AcquireResponse event) {
    Optional<Acquisition> known = find(event.getRequestId());
    if (known.isPresent()) {
      known.get().onEvent(event);
    } else if (event.hasGranted() || event.hasQueued()) {
      // Nobody here waits for it any more: it must not stay, or stand in others' way.
      LOG.atDebug().addKeyValue("acquisition", event.getRequestId()).log("Releasing a late grant");
      release(event.getRequestId());
    }
  }

  /** Releases what nobody here knows, until that is certain or the lease is over. */
  private void release(String requestId) {
    if (acquisitions.size() >= CAPACITY) {
      link.send(Requests.release(requestId, 0));
      return; // No room to remember it: the server tells of it again after a resume.
    }
    Acquisition unwanted = new Acquisition(requestId, UNWANTED, around, link);
    acquisitions.put(requestId, unwanted);
    unwanted.leave();
  }
}
