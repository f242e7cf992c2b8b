package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.AdoptedState;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.FollowUp;
import io.lockkeeper.server.core.state.Hold;
import io.lockkeeper.server.core.state.Lease;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Keeps what was adopted untouched while its client may rely on the coordinator that served it
 * before. That one may live, cut off from ZooKeeper or not told yet: its client may have been
 * granted something that does not show, or be told so until the old session bound has passed, also
 * if it was here in between. So before that nothing is granted whose client has not come, and
 * nothing is ended by a clock.
 */
public final class AdoptionGrace {

  private final CoreState core;
  private final WaitTimeouts timeouts;
  private final Grants grants;
  private final PermitLimits limits;

  public AdoptionGrace(CoreState core, WaitTimeouts timeouts, Grants grants, PermitLimits limits) {
    this.core = core;
    this.timeouts = timeouts;
    this.grants = grants;
    this.limits = limits;
  }

  /** Returns an acquisition that its client asks for by name: it is here. */
  public Optional<Acquisition> find(Lease lease, String requestId) {
    Optional<Acquisition> acquisition = Optional.ofNullable(lease.acquisitions().get(requestId));
    if (acquisition.isPresent()) {
      attend(acquisition.get());
    }
    return acquisition;
  }

  /** The client of a lease is here. */
  public void attendAll(Lease lease) {
    List.copyOf(lease.acquisitions().values()).forEach(this::attend);
  }

  /** Lets an acquisition hold or wait, as the queues say. */
  public void attend(Acquisition acquisition) {
    if (acquisition.isDormant()) {
      acquisition.adoptedState().ifPresent(AdoptedState::attend);
      begin(acquisition);
    }
  }

  /** Nobody else can vouch for the acquisitions of a lease any more. */
  public void wakeAll(Lease lease) {
    List.copyOf(lease.acquisitions().values()).forEach(this::wake);
  }

  /**
   * The former coordinator left in good order, and would have withdrawn a request at that time, as
   * its client had closed its stream: so does this one.
   */
  public void withdrawAt(Acquisition acquisition, long atNanos) {
    acquisition.adoptedState().ifPresent(adoptedState -> adoptedState.withdrawnAt(atNanos));
    acquisition
        .timers()
        .lingersUntil(
            core.timers,
            atNanos,
            () -> {
              wake(acquisition);
              timeouts.linger(acquisition, core.now);
            });
  }

  /** Returns when a request whose client closed its stream is withdrawn, if it did. */
  public OptionalLong withdrawnAtNanos(Acquisition acquisition) {
    if (!acquisition.hasOwnStream()
        || acquisition.target().isPresent()
        || !acquisition.state().isWaiting()
        || acquisition.isReliedOn()) {
      return OptionalLong.empty();
    }
    OptionalLong at =
        acquisition
            .adoptedState()
            .filter(adoptedState -> !adoptedState.isAwake())
            .map(AdoptedState::withdrawnAtNanos)
            .orElseGet(() -> acquisition.timers().lingersUntilNanos());
    long latest = acquisition.awakeAtNanos(core.now) + core.settings.linger().toNanos();
    return at.isPresent() ? at : OptionalLong.of(latest);
  }

  /** The client of an acquisition has repeated its request. */
  public void repeated(Acquisition acquisition, AcquireCommand asked) {
    acquisition.adoptedState().ifPresent(adoptedState -> adoptedState.repeat(asked, core.now));
    attend(acquisition);
    if (!acquisition.lease().mayBeVouchedElsewhere(core.now)) {
      wake(acquisition);
    }
    onWaiting(acquisition);
  }

  private void wake(Acquisition acquisition) {
    Optional<AdoptedState> sleeping =
        acquisition.adoptedState().filter(adoptedState -> !adoptedState.isAwake());
    if (sleeping.isEmpty()) {
      return;
    }
    boolean first = sleeping.get().isDormant();
    sleeping.get().wake();
    if (first) {
      begin(acquisition);
    }
    onWaiting(acquisition);
    if (acquisition.wasPlaced() && acquisition.state().isWaiting()) {
      core.follow(new FollowUp.Waiting(acquisition));
    }
    for (Hold hold : acquisition.holds()) {
      hold.entryIn(core.mirror).ifPresent(entry -> limits.onQueued(hold.lock(), entry));
    }
    if (acquisition.hasOwnStream() && acquisition.target().isEmpty()) {
      timeouts.linger(acquisition);
    }
    if (!sleeping.get().isRepeated()) {
      timeouts.giveBackUnclaimed(acquisition);
    }
  }

  /** An acquisition waits: its clocks run from now on, if they may. */
  public void onWaiting(Acquisition acquisition) {
    acquisition
        .adoptedState()
        .filter(adoptedState -> acquisition.state().isWaiting() && acquisition.mayEnd())
        .filter(AdoptedState::startsClocks)
        .ifPresent(
            adoptedState ->
                timeouts.limit(
                    acquisition,
                    adoptedState.waitTimeout().or(() -> acquisition.command().waitTimeout()),
                    adoptedState.waitsFromNanos()));
  }

  private void begin(Acquisition acquisition) {
    grants.decide(acquisition);
    if (acquisition.state().isHeld()) {
      // As far as anybody knows its client was told so before.
      acquisition.markHeard();
    }
    acquisition.holds().forEach(this::readAgain);
  }

  /** A wish to give way may have been written into the entry when nobody was told. */
  private void readAgain(Hold hold) {
    hold.entryIn(core.mirror)
        .filter(entry -> hold.isGranted() && !entry.markChanged())
        .ifPresent(
            entry -> core.emit(new StoreEffect.ReadDetails(hold.lock(), hold.name().text())));
  }
}
