package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.coordinator.api.CoordinatorObserver;
import io.lockkeeper.server.coordinator.api.LockStore;
import io.lockkeeper.server.coordinator.serial.Listeners;
import io.lockkeeper.server.coordinator.watch.WatchHub;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.EffectHandler;
import io.lockkeeper.server.core.api.StoreEffect;
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
  public void store(StoreEffect effect) {
    effect.applyTo(store);
  }

  @Override
  public void reportLosses(Effect.ReportLosses effect) {
    LOG.atWarn()
        .addKeyValue("session", effect.session())
        .addKeyValue("holds", effect.locks().size())
        .addKeyValue(
            "locks", effect.locks().stream().limit(LOCKS_NAMED).map(LockName::value).toList())
        .log("locks were lost: their ZooKeeper session was not proved alive in time");
  }

  @Override
  public void tell(Effect.Tell effect) {
    NoticeLog.told(effect);
    streams.tell(effect);
  }

  @Override
  public void count(Effect.Count effect) {
    Listeners.tell(() -> observer.onOccurrence(effect.occurrence()));
  }

  @Override
  public void refuse(Effect.Refuse effect) {
    NoticeLog.refused(effect);
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
