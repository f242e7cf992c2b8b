package io.lockkeeper.server.core.acquire;

import io.lockkeeper.server.core.api.HoldEnd;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.Occurrence;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.queue.Mirror;
import io.lockkeeper.server.core.session.LossReport;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Hold;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Measures what acquisitions are told: how long they waited and held, and how they ended. */
public final class Occurrences {

  private final CoreState core;
  private final LossReport losses;

  public Occurrences(CoreState core, LossReport losses) {
    this.core = core;
    this.losses = losses;
  }

  /** Returns what is measured when an acquisition is told something. */
  Occurrence of(Acquisition acquisition, Notice notice) {
    boolean grant = notice instanceof Notice.Granted;
    boolean began = acquisition.adoptedState().isEmpty();
    return new Occurrence(
        acquisition.id(),
        acquisition.command(),
        losses.counted(acquisition, notice),
        notice.isFinal() ? acquisition.end() : HoldEnd.UNKNOWN,
        began && (grant || notice instanceof Notice.NotAcquired)
            ? OptionalLong.of(acquisition.times().waitedNanos(core.now))
            : OptionalLong.empty(),
        began && notice.isFinal() ? acquisition.times().heldNanos() : OptionalLong.empty(),
        grant ? handOffNanos(acquisition) : OptionalLong.empty(),
        notice.isFinal() ? ended(acquisition, began) : Optional.empty());
  }

  private static Optional<Occurrence.EndedHold> ended(Acquisition acquisition, boolean began) {
    List<FencingToken> tokens = new ArrayList<>(acquisition.holds().size());
    for (Hold hold : acquisition.holds()) {
      if (!hold.wasGranted() || !hold.hasToken()) {
        return Optional.empty();
      }
      tokens.add(hold.token());
    }
    if (acquisition.remainingHolds() > 0) {
      return Optional.empty();
    }
    return Optional.of(
        new Occurrence.EndedHold(
            acquisition.lease().id(),
            acquisition.lease().holderOf(acquisition.command()),
            acquisition.description().metadata(),
            tokens,
            began ? acquisition.times().waitedNanos() : OptionalLong.empty()));
  }

  /** Returns how long ago the last holder that the acquisition waited for has stopped to hold. */
  private OptionalLong handOffNanos(Acquisition acquisition) {
    OptionalLong last = OptionalLong.empty();
    for (Hold hold : acquisition.holds()) {
      OptionalLong ended =
          core.mirror
              .lastDeparture(hold.lock())
              .map(Mirror.Departure::atNanos)
              .orElse(OptionalLong.empty());
      if (ended.isPresent() && acquisition.times().waitedAt(ended.getAsLong())) {
        long ago = core.now - ended.getAsLong();
        last = OptionalLong.of(last.isPresent() ? Math.min(last.getAsLong(), ago) : ago);
      }
    }
    return last;
  }
}
