package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.StreamId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * One connection of a client to a coordinator. Messages stay in their order, late by chance. When
 * it breaks, each side notices on its own, and what is under way may still arrive.
 */
final class SimLink {

  /** After how long without an answer a client looks for another coordinator. */
  private static final int PING_MILLIS = 3_000;

  /**
   * After how long at least a client notices that the coordinator does not answer; after twice as
   * long at most. A client without a lease relies on its stream until then, so this ends before the
   * bound of a session whose holders have not received JEOPARDY yet: 10 s - 1 s - 2.3 s (lag and
   * age of the proof) - 4.1 s (a third, and a proof interval).
   */
  private static final int STALL_MILLIS = 1_250;

  /** After how long at most a client knows that the coordinator's process is gone. */
  static final int NOTICED_MILLIS = 300;

  final SimClient client;
  final SimCoordinator coordinator;
  private final Sim sim;
  private final Set<StreamId> served = new LinkedHashSet<>();
  private final Set<StreamId> ended = new HashSet<>();
  private final Map<StreamId, Long> lastDown = new HashMap<>();
  private long lastUp;
  private long cutAt = Long.MAX_VALUE;
  private boolean dropped;
  private boolean listening = true;
  private boolean serving = true;

  SimLink(Sim sim, SimClient client, SimCoordinator coordinator) {
    this.sim = sim;
    this.client = client;
    this.coordinator = coordinator;
    if (coordinator.crashed || coordinator.refusesConnections()) {
      die();
      return;
    }
    coordinator.links.add(this);
    if (coordinator.isPaused()) {
      stall();
    }
  }

  /** Begins a call that is to be answered. */
  CallId call() {
    return new CallId(sim.name());
  }

  void send(ClientEvent event) {
    boolean loose = event instanceof ClientEvent.KeepAlive && sim.chance(10);
    long sentAt = sim.now;
    long at = sim.now + sim.delay(loose ? 3_000 : 250);
    if (!loose) {
      at = Math.max(lastUp, at);
      lastUp = at;
    }
    client.expects();
    sim.at(
        at,
        () -> {
          client.settled();
          arrive(event, sentAt);
        });
  }

  private void arrive(ClientEvent event, long sentAt) {
    boolean cut = sim.now >= cutAt;
    dropped |= cut && (sentAt >= cutAt || sim.chance(30));
    if (!serving || dropped || coordinator.crashed) {
      return;
    }
    if (event instanceof ClientEvent.StreamClosed closed) {
      served.remove(closed.stream());
    } else if (event instanceof ClientEvent.Acquire acquire) {
      if (ended.contains(acquire.stream())) {
        return;
      }
      served.add(acquire.stream());
    } else if (event instanceof ClientEvent.AttachLease attach) {
      served.add(attach.stream());
    }
    coordinator.fromClient(this, event);
  }

  /** Carries a message of a stream to the client, behind those before it. */
  void down(StreamId stream, Runnable message) {
    long at = Math.max(lastDown.getOrDefault(stream, 0L), sim.now + sim.delay(250));
    lastDown.put(stream, at);
    down(at, message);
  }

  /** Carries the last message of a stream: what its client sends on it from now on is not read. */
  void downLast(StreamId stream, Runnable message) {
    ended.add(stream);
    down(stream, message);
  }

  /** Carries an answer to the client. */
  void answer(Runnable message) {
    down(sim.now + sim.delay(250), message);
  }

  private void down(long at, Runnable message) {
    long sentAt = sim.now;
    client.expects();
    sim.at(
        at,
        () -> {
          boolean arrives = sim.now < cutAt || (sentAt < cutAt && sim.chance(50));
          if (listening && arrives) {
            client.take(
                () -> {
                  client.settled();
                  message.run();
                });
          } else {
            client.settled();
          }
        });
  }

  /** Nothing gets through any more; both sides notice in their time. */
  void cut() {
    if (cutAt == Long.MAX_VALUE) {
      cutAt = sim.now;
      long noticed = sim.delay(PING_MILLIS);
      sim.after(noticed, this::lose);
      // What is bound to a stream has no clock: its client must be the first to know.
      sim.after(sim.delay(2 * PING_MILLIS) + (client.byStream ? noticed : 0), this::hangUp);
    }
  }

  /** The coordinator's process is gone. */
  void die() {
    cutAt = Math.min(cutAt, sim.now);
    serving = false;
    sim.after(sim.delay(NOTICED_MILLIS), this::lose);
  }

  /** The coordinator does not answer: a client that waits for it leaves. */
  void stall() {
    sim.after(
        STALL_MILLIS * Sim.MILLI + sim.delay(STALL_MILLIS),
        () -> {
          if (coordinator.isPaused()) {
            lose();
          }
        });
  }

  /** The client leaves; what it has sent still arrives, and then the coordinator knows. */
  void close() {
    listening = false;
    lastUp = Math.max(lastUp, sim.now + sim.delay(250));
    sim.at(lastUp, this::hangUp);
  }

  private void lose() {
    if (listening) {
      client.take(() -> client.onLinkLost(this));
    }
  }

  /** The coordinator learns that the connection is gone. */
  private void hangUp() {
    if (serving) {
      serving = false;
      coordinator.links.remove(this);
      served.forEach(stream -> coordinator.deliver(new ClientEvent.StreamClosed(stream, false)));
    }
  }
}
