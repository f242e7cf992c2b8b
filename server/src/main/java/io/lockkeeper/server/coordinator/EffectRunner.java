package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.coordinator.api.CoordinatorObserver;
import io.lockkeeper.server.coordinator.api.LockStore;
import io.lockkeeper.server.coordinator.serial.Listeners;
import io.lockkeeper.server.coordinator.watch.WatchHub;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.EffectHandler;
import io.lockkeeper.server.core.api.SessionEffect;
import io.lockkeeper.server.core.lock.LockName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries the core's effects out: to the store, to streams, to calls, to watchers. What throws here
 * has the coordinator fail: the effects behind it were decided and would be forgotten. Only those
 * who listen are allowed to, see {@link Listeners}; a call's future contains what its dependents
 * throw by itself.
 */
final class EffectRunner implements EffectHandler {

  private static final Logger LOG = LoggerFactory.getLogger(EffectRunner.class);
  private static final int LOCKS_NAMED = 5;

  private final LockStore store;
  private final NoticeStreams streams;
  private final PendingCalls calls;
  private final WatchHub watches;
  private final CoordinatorObserver observer;

  EffectRunner(
      LockStore store,
      NoticeStreams streams,
      PendingCalls calls,
      WatchHub watches,
      CoordinatorObserver observer) {
    this.store = store;
    this.streams = streams;
    this.calls = calls;
    this.watches = watches;
    this.observer = observer;
  }

  @Override
  public void openSession(SessionEffect.OpenSession effect) {
    store.openSession(effect.session());
  }

  @Override
  public void adoptSession(SessionEffect.AdoptSession effect) {
    store.adoptSession(effect.session(), effect.claim());
  }

  @Override
  public void closeSession(SessionEffect.CloseSession effect) {
    store.closeSession(effect.session());
  }

  @Override
  public void proveSession(SessionEffect.ProveSession effect) {
    store.proveSession(effect.session());
  }

  @Override
  public void reportLosses(SessionEffect.ReportLosses effect) {
    LOG.atWarn()
        .addKeyValue("session", effect.session())
        .addKeyValue("holds", effect.locks().size())
        .addKeyValue(
            "locks", effect.locks().stream().limit(LOCKS_NAMED).map(LockName::value).toList())
        .log("locks were lost: their ZooKeeper session was not proved alive in time");
  }

  @Override
  public void createEntries(Effect.CreateEntries effect) {
    store.createEntries(
        effect.session(),
        effect.id(),
        effect.entries(),
        effect.details(),
        effect.lockDelayMillis());
  }

  @Override
  public void deleteEntries(Effect.DeleteEntries effect) {
    store.deleteEntries(effect.session(), effect.id(), effect.entries());
  }

  @Override
  public void recordLease(Effect.RecordLease effect) {
    store.recordLease(
        effect.session(), effect.lease(), effect.ttlMillis(), effect.holder(), effect.secretHash());
  }

  @Override
  public void eraseLease(Effect.EraseLease effect) {
    store.eraseLease(effect.session(), effect.lease());
  }

  @Override
  public void barrier(Effect.Barrier effect) {
    store.barrier(effect.barrier());
  }

  @Override
  public void readDetails(Effect.ReadDetails effect) {
    store.readDetails(effect.lock(), effect.entry());
  }

  @Override
  public void amend(Effect.Amend effect) {
    store.amend(effect.number(), effect.lock(), effect.entry(), effect.update());
  }

  @Override
  public void setLimit(Effect.SetLimit effect) {
    store.setLimit(effect.number(), effect.lock(), effect.limit());
  }

  @Override
  public void removeGuard(Effect.RemoveGuard effect) {
    store.removeGuard(effect.lock(), effect.guard());
  }

  @Override
  public void tell(Effect.Tell effect) {
    streams.tell(effect);
  }

  @Override
  public void count(Effect.Count effect) {
    Listeners.tell(() -> observer.onNotice(effect.notice()));
  }

  @Override
  public void refuse(Effect.Refuse effect) {
    streams.refuse(effect);
  }

  @Override
  public void tellLeaseEnd(Effect.TellLeaseEnd effect) {
    streams.tellLeaseEnd(effect);
  }

  @Override
  public void supersede(Effect.Supersede effect) {
    streams.supersede(effect);
  }

  @Override
  public void sendAway(Effect.SendAway effect) {
    streams.sendAway(effect);
  }

  @Override
  public void reply(Effect.Reply effect) {
    calls.answer(effect.call(), effect.answer());
  }

  @Override
  public void publish(Effect.Publish effect) {
    watches.publish(effect.change());
  }

  @Override
  public void publishGap(Effect.PublishGap effect) {
    watches.gap(effect.reason());
  }
}
