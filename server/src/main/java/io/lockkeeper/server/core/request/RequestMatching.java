package io.lockkeeper.server.core.request;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.lock.PermitsKind;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.Hold;
import io.lockkeeper.server.core.state.Lease;
import java.util.List;

/**
 * Tells whether a request came before. What another coordinator served is known by its entries,
 * which need not tell all that was asked for.
 */
final class RequestMatching {

  private RequestMatching() {}

  /** Returns whether an acquisition is what is asked for now. */
  static boolean isSame(Acquisition acquisition, AcquireCommand asked) {
    return acquisition.adoptedState().isPresent()
        ? fits(acquisition.command(), acquisition.adoptedState().get().locks(), asked)
        : acquisition.command().asksTheSameAs(asked);
  }

  /** Returns whether what has ended is what is asked for now. */
  static boolean isSame(Lease.Ended ended, AcquireCommand asked) {
    return ended.adopted()
        ? fits(ended.command(), ended.locks(), asked)
        : ended.command().asksTheSameAs(asked);
  }

  private static boolean fits(AcquireCommand known, int locks, AcquireCommand asked) {
    return known.owner().equals(asked.owner())
        && locks == asked.locks().size()
        && known.locks().stream()
            .allMatch(part -> asked.locks().stream().anyMatch(wanted -> fits(part, wanted)));
  }

  /** The limit of permits may have been left to the lock. */
  private static boolean fits(AcquireCommand.WantedLock part, AcquireCommand.WantedLock wanted) {
    boolean alike =
        part.mode() instanceof PermitsKind.Permits permits
            && wanted.mode() instanceof PermitsKind.Permits others
            && permits.permits() == others.permits();
    return part.name().equals(wanted.name()) && (alike || part.mode().equals(wanted.mode()));
  }

  /** Returns whether the client names the tokens of just these holds. */
  static boolean knows(AcquireCommand asked, List<Hold> holds) {
    List<Long> tokens = asked.heldTokens();
    if (tokens.size() != holds.size()) {
      return false;
    }
    for (int i = 0; i < holds.size(); i++) {
      if (!holds.get(i).hasToken() || holds.get(i).token().value() != tokens.get(i)) {
        return false;
      }
    }
    return true;
  }

  /** Returns whether the client names tokens that are not known to be wrong. */
  static boolean mayKnow(AcquireCommand asked, List<Hold> holds) {
    return !asked.heldTokens().isEmpty()
        && (knows(asked, holds) || !holds.stream().allMatch(Hold::hasToken));
  }

  /** Returns what a client is told that holds something of which nothing is left. */
  static Notice.Lost gone() {
    return new Notice.Lost(Notice.LossReason.REMOVED, "nothing of it was left in ZooKeeper");
  }

  /** Returns the ending as it concerns a client that holds: an acquisition that was lost. */
  static Notice ending(Lease.Ended ended, AcquireCommand asked) {
    boolean held = !asked.heldTokens().isEmpty();
    return held && ended.notice() instanceof Notice.NotAcquired ? gone() : ended.notice();
  }
}
