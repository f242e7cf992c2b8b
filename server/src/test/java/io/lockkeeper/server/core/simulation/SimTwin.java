package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.StreamId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * A second process, or a late one, with a client's lease and secret: it resumes the lease on a
 * connection of its own and repeats the requests, as they were when it began. The stream that was
 * the lease's is superseded, so that the client comes again itself. Whatever the twin is told the
 * client does not hear, and the twin uses no lock.
 */
final class SimTwin {

  private final Sim sim;
  private final SimClient client;
  private final SimLink link;
  private final List<SimRequest> repeated;

  SimTwin(Sim sim, SimClient client, SimCoordinator coordinator) {
    this.sim = sim;
    this.client = client;
    this.link = new SimLink(sim, client, coordinator);
    this.repeated = client.requests().stream().filter(SimRequest::isLive).toList();
  }

  /** Resumes, repeats, and goes away in a while. */
  void start() {
    sim.rules.allowGaps(client.lease);
    StreamId stream = new StreamId(sim.name());
    link.send(new ClientEvent.AttachLease(link.call(), client.lease, SimClient.SECRET, stream));
    List<ClientEvent> messages = new ArrayList<>();
    repeated.forEach(request -> messages.add(repetition(request, stream)));
    messages.add(new ClientEvent.KeepAlive(link.call(), client.lease));
    // Not all at once: the client comes again in between.
    messages.forEach(message -> sim.after(sim.delay(1_000), () -> link.send(message)));
    sim.after(sim.delay(4_000), link::close);
  }

  private ClientEvent repetition(SimRequest request, StreamId leaseStream) {
    request.askedByTwin = true;
    Optional<StreamId> own = request.stream.map(was -> new StreamId(sim.name()));
    return new ClientEvent.Acquire(
        own.orElse(leaseStream),
        new UUID(request.lease.high(), sim.random.nextLong()),
        request.lease,
        request.told(sim.now),
        request.stream.isEmpty());
  }
}
