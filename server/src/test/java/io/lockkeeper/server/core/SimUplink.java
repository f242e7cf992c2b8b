package io.lockkeeper.server.core;

import java.util.HashMap;
import java.util.Map;

/** Carries what a client says to its coordinator: in order, late by chance. */
final class SimUplink {

  private final Sim sim;
  private final SimCoordinator coordinator;
  private final SimClient client;
  private final Map<CallId, Long> sentAt = new HashMap<>();
  private long last;

  SimUplink(Sim sim, SimCoordinator coordinator, SimClient client) {
    this.sim = sim;
    this.coordinator = coordinator;
    this.client = client;
  }

  /** Begins a call that is to be answered. */
  CallId call() {
    CallId call = new CallId(sim.name());
    sentAt.put(call, sim.now);
    coordinator.expectAnswer(call, client);
    return call;
  }

  long sentAt(CallId call) {
    return sentAt.get(call);
  }

  void send(ClientEvent event) {
    last = Math.max(last, sim.now + sim.delay(250));
    sim.at(
        last,
        () -> {
          sim.rules.expectAnswers(event, coordinator);
          coordinator.fromClient(client, event);
        });
  }
}
