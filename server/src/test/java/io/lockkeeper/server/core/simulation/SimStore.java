package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.api.FreezeEvent;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.UpdateEvent;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.EntryUpdate;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.RevocationRequest;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;

/** Carries out what a coordinator wants written, as its store would. */
final class SimStore {

  private final Sim sim;
  private final SimCoordinator coordinator;

  SimStore(Sim sim, SimCoordinator coordinator) {
    this.sim = sim;
    this.coordinator = coordinator;
  }

  void create(SimConnection connection, StoreEffect.CreateEntries effect) {
    Supplier<Optional<StoreEvent>> find =
        () ->
            sim.has(Sim.Mutant.BLIND_RECREATE)
                ? Optional.empty()
                : sim.zooKeeper
                    .ofAcquisition(effect.id())
                    .map(nodes -> created(effect.id(), nodes));
    connection.write(() -> Optional.of(attempt(connection, effect)), find);
  }

  private StoreEvent attempt(SimConnection connection, StoreEffect.CreateEntries effect) {
    if (sim.chance(1)) {
      return new StoreEvent.EntriesRefused(effect.id(), "refused by chance");
    }
    boolean continues = effect.entries().stream().anyMatch(e -> e.beside().isPresent());
    if (continues && sim.chance(8)) {
      // Somebody with other tools, at the worst of moments.
      effect
          .entries()
          .forEach(
              e ->
                  e.beside()
                      .ifPresent(
                          beside ->
                              sim.zooKeeper.delete(
                                  e.lock(), beside.entry().text(), SimZooKeeper.Cause.REMOVED)));
    }
    boolean checked = !sim.has(Sim.Mutant.DOWNGRADE_UNCHECKED);
    return sim.zooKeeper
        .create(connection.session(), effect, checked)
        .map(nodes -> created(effect.id(), nodes))
        .orElseGet(
            () ->
                new StoreEvent.EntriesRefused(
                    effect.id(), "the entry beside it is gone, or its guard is there"));
  }

  private StoreEvent created(UUID id, List<SimNode> nodes) {
    return new StoreEvent.EntriesCreated(id, nodes.stream().map(this::created).toList());
  }

  private StoreEvent.CreatedEntry created(SimNode node) {
    long czxid = sim.has(Sim.Mutant.TOKEN_FROM_SEQUENCE) ? node.name.sequence() + 1L : node.czxid;
    return new StoreEvent.CreatedEntry(node.lock, coordinator.feed.seen(node), czxid, node.index);
  }

  void delete(SimConnection connection, StoreEffect.DeleteEntries effect) {
    Optional<StoreEvent> done = Optional.of(new StoreEvent.EntriesDeleted(effect.id()));
    List<EntryRef> refs =
        sim.has(Sim.Mutant.GUARD_ALWAYS_DELETED)
            ? effect.entries().stream().map(ref -> guarded(ref, effect.id())).toList()
            : effect.entries();
    connection.write(
        () -> {
          sim.zooKeeper.delete(refs);
          return done;
        },
        () -> sim.has(Sim.Mutant.DELETE_TAKEN_FOR_DONE) ? done : Optional.empty());
  }

  private EntryRef guarded(EntryRef ref, UUID id) {
    Optional<String> guard =
        sim.zooKeeper.markers(ref.lock()).stream()
            .filter(marker -> marker instanceof MarkerName.Guard g && g.id().equals(id))
            .map(MarkerName::text)
            .findFirst();
    return new EntryRef(ref.lock(), ref.entry(), guard);
  }

  /** Over the mirror's connection: done, done and not known to be, or not done. */
  void update(StoreEffect.UpdateEntry effect) {
    retried(
        () -> updated(effect),
        outcome ->
            new UpdateEvent.EntryUpdateAnswered(
                effect.number(), outcome.orElse(EntryUpdate.Outcome.FAILED)));
  }

  private EntryUpdate.Outcome updated(StoreEffect.UpdateEntry effect) {
    Optional<SimNode> node = sim.zooKeeper.find(effect.lock(), effect.entry().text());
    if (node.isEmpty()) {
      return EntryUpdate.Outcome.GONE;
    }
    EntryDetails old = node.get().details;
    boolean ours = !old.leaseId().isEmpty();
    if (effect.update() instanceof EntryUpdate.Remove) {
      sim.zooKeeper.delete(effect.lock(), effect.entry().text(), SimZooKeeper.Cause.REMOVED);
    } else if (effect.update() instanceof EntryUpdate.Ask ask && ours) {
      sim.zooKeeper.change(node.get(), with(old, Optional.of(ask.ask())));
    } else if (effect.update() instanceof EntryUpdate.Describe describe) {
      sim.zooKeeper.change(node.get(), with(describe.details(), old.ask()));
    }
    return EntryUpdate.Outcome.DONE;
  }

  private static EntryDetails with(EntryDetails details, Optional<RevocationRequest> ask) {
    return new EntryDetails(
        details.leaseId(),
        details.requestId(),
        details.owner(),
        details.holder(),
        details.metadata(),
        details.streamBound(),
        details.unsearched(),
        details.needsMillis(),
        ask,
        details.terms());
  }

  void record(SimConnection connection, StoreEffect.RecordLease effect) {
    LeaseId lease = effect.lease();
    SessionEvent.AdoptedLease record =
        new SessionEvent.AdoptedLease(
            lease, effect.ttlMillis(), effect.holder(), effect.secretHash(), effect.identity());
    connection.write(
        () -> {
          if (sim.chance(2)) {
            return Optional.of(
                new StoreEvent.LeaseRefused(effect.session(), lease, "refused by chance", false));
          }
          sim.zooKeeper.recordLease(connection.session(), record);
          return Optional.of(new StoreEvent.LeaseRecorded(effect.session(), lease));
        },
        () ->
            connection.session().leases.containsKey(lease)
                ? Optional.of(new StoreEvent.LeaseRecorded(effect.session(), lease))
                : Optional.empty());
  }

  void erase(SimConnection connection, StoreEffect.EraseLease effect) {
    connection.write(
        () -> {
          sim.zooKeeper.eraseLease(connection.session(), effect.lease());
          return Optional.of(new StoreEvent.LeaseErased(effect.session(), effect.lease()));
        },
        Optional::empty);
  }

  void setLimit(StoreEffect.SetLimit effect) {
    retried(
        () -> {
          sim.zooKeeper.setLimit(effect.lock(), effect.limit());
          return true;
        },
        done -> new UpdateEvent.LimitAnswered(effect.number(), done.isPresent()));
  }

  void removeGuard(StoreEffect.RemoveGuard effect) {
    sim.after(
        sim.delay(200),
        () -> {
          if (coordinator.feed.isUp() && !sim.chance(5)) {
            sim.zooKeeper.barrier();
            sim.zooKeeper.unmark(effect.lock(), effect.guard());
          }
        });
  }

  void setFreeze(StoreEffect.SetFreeze effect) {
    retried(
        () -> {
          sim.freezes.freeze(effect.freeze());
          return FreezeEvent.Outcome.DONE;
        },
        done -> answered(effect.number(), done));
  }

  void removeFreeze(StoreEffect.RemoveFreeze effect) {
    retried(
        () ->
            sim.freezes.thaw(effect.prefix(), frozen -> true)
                ? FreezeEvent.Outcome.DONE
                : FreezeEvent.Outcome.NOT_FROZEN,
        done -> answered(effect.number(), done));
  }

  private static StoreEvent answered(long number, Optional<FreezeEvent.Outcome> done) {
    return new FreezeEvent.Answered(number, done.orElse(FreezeEvent.Outcome.FAILED));
  }

  void thaw(StoreEffect.Thaw effect) {
    sim.after(
        sim.delay(200),
        () -> {
          if (coordinator.feed.isUp() && !sim.chance(5)) {
            sim.freezes.thaw(effect.prefix(), frozen -> frozen.writtenAt() == effect.zxid());
          }
        });
  }

  private <T> void retried(
      Supplier<T> change, java.util.function.Function<Optional<T>, StoreEvent> answer) {
    sim.after(
        sim.delay(200),
        () -> {
          boolean reached = coordinator.feed.isUp() || sim.chance(20);
          Optional<T> done = reached ? Optional.of(change.get()) : Optional.empty();
          boolean known = coordinator.feed.isUp() && !sim.chance(3);
          if (known) {
            coordinator.feed.onWritten();
          }
          sim.after(
              sim.delay(200) + (known ? 0 : sim.delay(4_000)),
              () -> coordinator.deliver(answer.apply(known ? done : Optional.empty())));
        });
  }
}
