package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.EffectHandler;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.lock.SessionKey;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Carries out what one kernel wants: towards its clients, and through its store. */
final class SimEffects implements EffectHandler, StoreEffect.Store {

  private final Sim sim;
  private final SimCoordinator coordinator;
  private final SimStore store;
  private final Map<StreamId, SimLink> streams = new HashMap<>();
  private final Map<CallId, SimLink> calls = new HashMap<>();

  SimEffects(Sim sim, SimCoordinator coordinator) {
    this.sim = sim;
    this.coordinator = coordinator;
    this.store = new SimStore(sim, coordinator);
  }

  /** A client's message arrives, and wants to be answered where it came from. */
  void expect(SimLink link, ClientEvent event) {
    SimRules.callOf(event).ifPresent(call -> calls.put(call, link));
    if (event instanceof ClientEvent.Acquire acquire) {
      streams.put(acquire.stream(), link);
    } else if (event instanceof ClientEvent.AttachLease attach) {
      streams.put(attach.stream(), link);
    }
  }

  @Override
  public void store(StoreEffect effect) {
    effect.applyTo((StoreEffect.Store) this);
  }

  @Override
  public void openSession(StoreEffect.OpenSession effect) {
    SimConnection connection =
        new SimConnection(sim, coordinator, effect.session(), new SimSession());
    coordinator.connections.put(effect.session(), connection);
    connection.open();
  }

  @Override
  public void adoptSession(StoreEffect.AdoptSession effect) {
    Optional<SimClaims.Claim> claim = sim.claims.find(effect.claim());
    if (claim.isEmpty()) {
      SessionKey key = effect.session();
      sim.after(
          sim.delay(100), () -> coordinator.deliver(new SessionEvent.SessionEnded(key, false)));
      return;
    }
    SimAdoption adoption = new SimAdoption(sim, coordinator, effect.session(), claim.get());
    coordinator.connections.put(effect.session(), adoption.connection());
    adoption.start();
  }

  @Override
  public void closeSession(StoreEffect.CloseSession effect) {
    coordinator.on(effect.session()).close();
  }

  @Override
  public void reportLosses(Effect.ReportLosses effect) {}

  @Override
  public void proveSession(StoreEffect.ProveSession effect) {
    coordinator.on(effect.session()).prove();
    if (sim.has(Sim.Mutant.PROVED_UNASKED)) {
      coordinator.deliver(new SessionEvent.SessionProved(effect.session(), sim.now, sim.now));
    }
  }

  @Override
  public void createEntries(StoreEffect.CreateEntries effect) {
    store.create(coordinator.on(effect.session()), effect);
  }

  @Override
  public void deleteEntries(StoreEffect.DeleteEntries effect) {
    sim.losses.onDelete(coordinator, effect);
    store.delete(coordinator.on(effect.session()), effect);
  }

  @Override
  public void recordLease(StoreEffect.RecordLease effect) {
    store.record(coordinator.on(effect.session()), effect);
  }

  @Override
  public void eraseLease(StoreEffect.EraseLease effect) {
    sim.losses.onErase(coordinator, effect);
    store.erase(coordinator.on(effect.session()), effect);
  }

  @Override
  public void recordPromises(StoreEffect.RecordPromises effect) {
    sim.losses.onPromises(coordinator, effect.promises());
    Optional.ofNullable(coordinator.on(effect.session()))
        .ifPresent(connection -> connection.promises(effect.promises()));
  }

  @Override
  public void barrier(StoreEffect.Barrier effect) {
    coordinator.feed.barrier(effect.barrier());
  }

  @Override
  public void readDetails(StoreEffect.ReadDetails effect) {
    coordinator.feed.read(effect.lock(), effect.entry());
  }

  @Override
  public void updateEntry(StoreEffect.UpdateEntry effect) {
    store.update(effect);
  }

  @Override
  public void setLimit(StoreEffect.SetLimit effect) {
    store.setLimit(effect);
  }

  @Override
  public void removeGuard(StoreEffect.RemoveGuard effect) {
    store.removeGuard(effect);
  }

  @Override
  public void setFreeze(StoreEffect.SetFreeze effect) {
    store.setFreeze(effect);
  }

  @Override
  public void removeFreeze(StoreEffect.RemoveFreeze effect) {
    store.removeFreeze(effect);
  }

  @Override
  public void thaw(StoreEffect.Thaw effect) {
    store.thaw(effect);
  }

  @Override
  public void tell(Effect.Tell effect) {
    sim.note(effect);
    sim.rules.onTell(coordinator, effect);
    SimLink link = streams.get(effect.stream());
    long toldAt = sim.now;
    link.down(effect.stream(), () -> link.client.onTell(link, effect, toldAt));
  }

  @Override
  public void count(Effect.Count effect) {
    sim.note(effect);
  }

  @Override
  public void refuse(Effect.Refuse effect) {
    sim.note(effect);
    sim.rules.onRefuse(coordinator, effect);
    SimLink link = streams.get(effect.stream());
    link.down(effect.stream(), () -> link.client.onRefused(link, effect));
  }

  @Override
  public void tellLeaseEnd(Effect.TellLeaseEnd effect) {
    sim.note(effect);
    SimLink link = streams.get(effect.stream());
    sim.rules.onLeaseEnd(coordinator, link.client);
    sim.losses.onLeaseEnd(coordinator, link.client, effect.end());
    link.downLast(effect.stream(), () -> link.client.onLeaseEnded(link));
  }

  @Override
  public void sendAway(Effect.SendAway effect) {
    sim.note(effect);
    SimLink link = streams.get(effect.stream());
    link.client.requests().forEach(request -> sim.rules.allowGaps(request.id));
    link.down(effect.stream(), () -> link.client.onSentAway(link));
  }

  @Override
  public void supersede(Effect.Supersede effect) {
    sim.note(effect);
    SimLink link = streams.get(effect.stream());
    link.down(effect.stream(), () -> link.client.onSuperseded(effect.stream()));
  }

  @Override
  public void reply(Effect.Reply effect) {
    if (sim.has(Sim.Mutant.ANSWERS_LOST) && sim.chance(1)) {
      return;
    }
    sim.note(effect);
    sim.rules.onReply(effect);
    SimLink link = calls.remove(effect.call());
    link.answer(() -> link.client.onAnswer(link, effect.call(), effect.answer()));
  }

  @Override
  public void publish(Effect.Publish effect) {
    sim.note(effect.change().cause());
  }

  @Override
  public void publishGap(Effect.PublishGap effect) {
    sim.note(effect);
  }
}
