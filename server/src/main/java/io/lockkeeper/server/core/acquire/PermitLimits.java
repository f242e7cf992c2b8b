package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.UpdateEvent;
import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.Kind;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.PermitsKind;
import io.lockkeeper.server.core.queue.Entry;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.CoreState;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** The limits of locks of permits: what is in force, and setting it. */
public final class PermitLimits {

  private final CoreState core;
  private final Barriers barriers;
  private final AcquisitionLifecycle lifecycle;
  private final Map<Long, Change> underWay = new HashMap<>();
  private long changes;

  /** A limit that is being set, and the one before. */
  private record Change(ClientEvent.ConfigureLock event, int previous) {}

  public PermitLimits(CoreState core, Barriers barriers, AcquisitionLifecycle lifecycle) {
    this.core = core;
    this.barriers = barriers;
    this.lifecycle = lifecycle;
  }

  /** Returns the limit that is in force: configured, or named by who came first. */
  static OptionalInt inForce(CoreState core, LockName lock) {
    OptionalInt configured = core.mirror.limit(lock);
    if (configured.isPresent()) {
      return configured;
    }
    return core.mirror
        .firstMode(lock)
        .filter(PermitsKind.Permits.class::isInstance)
        .map(mode -> OptionalInt.of(mode.capacity()))
        .orElse(OptionalInt.empty());
  }

  /** Sets a lock's limit, or takes it away, unless the lock is of another kind. */
  public void configure(ClientEvent.ConfigureLock event) {
    if (!core.mirror.isCurrent()) {
      core.fail(event.call(), Failure.Reason.UNAVAILABLE, CoreState.NO_CONTACT);
      return;
    }
    Optional<Kind> other =
        core.mirror
            .firstMode(event.lock())
            .map(Mode::kind)
            .filter(kind -> !(kind instanceof PermitsKind));
    if (other.isPresent()) {
      Failure failure = Failure.wrongKind(event.lock(), other.get().name());
      core.reply(event.call(), new Answer.Failed(failure));
      return;
    }
    String account = AccountTag.of(core.caller.account());
    boolean isOwn = core.mirror.limitAccount(event.lock()).filter(account::equals).isPresent();
    if (event.limit().isPresent() && !isOwn) {
      Optional<Failure> refusal = core.accounts.refusalOfMarker(core.caller);
      if (refusal.isPresent()) {
        core.reply(event.call(), new Answer.Failed(refusal.get()));
        return;
      }
    }
    underWay.put(++changes, new Change(event, inForce(core, event.lock()).orElse(0)));
    core.emit(new StoreEffect.SetLimit(changes, event.lock(), event.limit(), account));
  }

  public void onAnswered(UpdateEvent.LimitAnswered answer) {
    Optional.ofNullable(underWay.remove(answer.change()))
        .ifPresent(change -> answer(change, answer.done()));
  }

  private void answer(Change change, boolean done) {
    CallId call = change.event().call();
    if (!done) {
      core.fail(
          call,
          Failure.Reason.UNAVAILABLE,
          "ZooKeeper did not confirm the limit: it may be set, send it again");
      return;
    }
    // After a barrier this coordinator, too, decides by the new limit.
    barriers.pass(passed -> core.reply(call, new Answer.LimitSet(change.previous())));
  }

  /** An entry was queued: the limit may have shrunk while it was being created. */
  void onQueued(LockName lock, Entry entry) {
    OptionalInt limit = core.mirror.limit(lock);
    if (limit.isPresent()) {
      refuseIfAbove(limit.getAsInt(), lock, entry);
    }
  }

  /** A lock's limit has changed: who asks for more than there is waits in vain. */
  public void onChanged(LockName lock) {
    core.mirror
        .limit(lock)
        .ifPresent(
            limit ->
                core.mirror.queue(lock).stream()
                    .flatMap(queue -> List.copyOf(queue.entries()).stream())
                    .forEach(entry -> refuseIfAbove(limit, lock, entry)));
  }

  private void refuseIfAbove(int limit, LockName lock, Entry entry) {
    if (entry.mode().weight() > limit && !entry.holds()) {
      Acquisition.of(entry)
          .ifPresent(
              acquisition ->
                  lifecycle.expireWait(
                      acquisition,
                      Notice.RefusalReason.LIMIT_TOO_SMALL,
                      "the limit of lock '" + lock + "' is " + limit + " now"));
    }
  }
}
