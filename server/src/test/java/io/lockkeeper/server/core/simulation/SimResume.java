package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.StreamId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How a client reaches its coordinators: one connection at a time, and after each another one,
 * anywhere, on which it resumes its lease, goes on with what it holds or waits for, and says again
 * what was not answered.
 */
final class SimResume {

  /** What was asked, and when. */
  private record Asked(ClientEvent event, long sentAt) {}

  private final Sim sim;
  private final SimClient client;
  private final Map<CallId, Asked> asked = new HashMap<>();
  private Optional<SimLink> link = Optional.empty();
  private Optional<StreamId> leaseStream = Optional.empty();
  private boolean attached;
  private boolean repeated;
  private boolean underWay;

  SimResume(Sim sim, SimClient client) {
    this.sim = sim;
    this.client = client;
  }

  void connect() {
    link = Optional.of(new SimLink(sim, client, anyCoordinator()));
    attached = false;
    repeated = false;
    leaseStream = Optional.empty();
  }

  /** A coordinator that does not serve the lease often carries everything to the one that does. */
  SimCoordinator anyCoordinator() {
    return sim.claims
        .ownerOf(client.lease)
        .filter(owner -> !owner.crashed && sim.chance(60))
        .orElseGet(() -> sim.coordinators.get(sim.random.nextInt(sim.coordinators.size())));
  }

  boolean isOn(SimLink other) {
    return link.equals(Optional.of(other));
  }

  boolean isOn(StreamId stream) {
    return leaseStream.equals(Optional.of(stream));
  }

  boolean isAt(SimCoordinator coordinator) {
    return link.filter(l -> l.coordinator == coordinator).isPresent();
  }

  Optional<StreamId> leaseStream() {
    return leaseStream;
  }

  boolean isAttached() {
    return attached && link.isPresent();
  }

  CallId call() {
    return new CallId(sim.name());
  }

  void send(ClientEvent event) {
    SimRules.callOf(event).ifPresent(call -> asked.put(call, new Asked(event, sim.now)));
    link.ifPresent(l -> l.send(event));
  }

  long sentAt(CallId call) {
    return asked.get(call).sentAt();
  }

  /** Returns whether the client made a call itself. */
  boolean hasAsked(CallId call) {
    return asked.containsKey(call);
  }

  ClientEvent asked(CallId call) {
    return asked.get(call).event();
  }

  /** Goes away from where it is, and resumes elsewhere in a while. */
  void leave(int withinMillis) {
    link.ifPresent(SimLink::close);
    onLost(withinMillis);
  }

  void breakLink() {
    link.ifPresent(SimLink::cut);
  }

  /** The connection is gone. */
  void onLost(int withinMillis) {
    link = Optional.empty();
    attached = false;
    client.requests().forEach(request -> sim.rules.allowGaps(request.id));
    if (!underWay) {
      underWay = true;
      sim.after(sim.delay(withinMillis), () -> client.take(this::resume));
    }
  }

  private void resume() {
    underWay = false;
    if (!client.isGone() && link.isEmpty()) {
      connect();
      attach();
      // Whoever is not answered goes on elsewhere.
      SimLink waited = link.orElseThrow();
      sim.after(
          6 * Sim.SECOND,
          () ->
              client.take(
                  () -> {
                    if (isOn(waited) && !attached && !client.isGone()) {
                      leave(500);
                    }
                  }));
    }
  }

  /** Makes a stream the lease's. */
  void attach() {
    repeated = false;
    for (SimRequest request : client.requests()) {
      sim.rules.allowGaps(request.id);
      // Whoever serves it now may have begun to count anew, and tells before it answers.
      request.newest = 0;
    }
    StreamId stream = new StreamId(sim.name());
    leaseStream = Optional.of(stream);
    if (sim.chance(2)) {
      send(new ClientEvent.AttachLease(call(), client.lease, "wrong", stream));
    }
    send(new ClientEvent.AttachLease(call(), client.lease, SimClient.SECRET, stream));
  }

  void onAttached() {
    attached = true;
    if (!repeated) {
      repeated = true;
      List<SimRequest> all = List.copyOf(client.requests());
      all.forEach(request -> request.newest = 0);
      all.stream().filter(SimRequest::isLive).forEach(client::sendAcquire);
      all.stream().filter(this::isOwed).forEach(client::sendRelease);
    }
  }

  /** What is over may live on here: whoever told so may not have been able to delete it. */
  private boolean isOwed(SimRequest request) {
    boolean justEnded =
        request.over && !request.gone && sim.now - request.endedAt < 2 * SimConnection.TIMEOUT;
    // A release that was not answered is to be repeated, whatever else was told.
    return !request.released && (justEnded || request.left || request.unwanted);
  }

  /** A call was refused: nothing is known here, or not any more, or nothing can be said now. */
  void onFailed(ClientEvent event, Failure.Reason reason) {
    boolean unknown = reason == Failure.Reason.UNKNOWN_LEASE;
    if (unknown && !sim.zooKeeper.hasLease(client.lease)) {
      client.onLeaseEnded();
    } else if (unknown || reason == Failure.Reason.MOVED) {
      leave(1_000);
    } else if (reason == Failure.Reason.UNAVAILABLE && !(event instanceof ClientEvent.KeepAlive)) {
      leave(1_000);
    }
  }
}
