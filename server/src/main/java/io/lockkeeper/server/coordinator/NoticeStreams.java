package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.coordinator.api.StreamTarget;
import io.lockkeeper.server.coordinator.serial.Listeners;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.StreamId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The streams that notices go to. One whose listener fails is ended, since it may have missed
 * something: its client comes again and hears what is true then. On the event loop only.
 */
final class NoticeStreams {

  private static final Failure INCOMPLETE =
      new Failure(
          Failure.Reason.UNAVAILABLE,
          "the coordinator could not tell all that happened; send the request again");

  private final Map<StreamId, StreamTarget> targets = new HashMap<>();

  void add(StreamId stream, StreamTarget target) {
    targets.put(stream, target);
  }

  int size() {
    return targets.size();
  }

  void remove(StreamId stream) {
    targets.remove(stream);
  }

  void tell(Effect.Tell effect) {
    pass(
        effect.stream(),
        t -> t.notice(effect.requestId(), effect.epoch(), effect.sequence(), effect.notice()));
  }

  void refuse(Effect.Refuse effect) {
    pass(
        effect.stream(),
        t -> t.refused(effect.requestId(), new RefusedException(effect.failure())));
  }

  /** Passes a word on, which returns whether it was the last. */
  private void pass(StreamId stream, Predicate<StreamTarget> word) {
    StreamTarget target = targets.get(stream);
    if (target == null) {
      return;
    }
    boolean taken =
        Listeners.tell(
            () -> {
              if (word.test(target)) {
                targets.remove(stream);
              }
            });
    if (!taken) {
      targets.remove(stream);
      end(target, new RefusedException(INCOMPLETE));
    }
  }

  void tellLeaseEnd(Effect.TellLeaseEnd effect) {
    passLast(effect.stream(), target -> target.leaseEnded(effect.end(), effect.message()));
  }

  void sendAway(Effect.SendAway effect) {
    passLast(effect.stream(), target -> target.sentAway(effect.why()));
  }

  void supersede(Effect.Supersede effect) {
    passLast(effect.stream(), StreamTarget::superseded);
  }

  private void passLast(StreamId stream, Consumer<StreamTarget> word) {
    Optional.ofNullable(targets.remove(stream))
        .ifPresent(target -> Listeners.tell(() -> word.accept(target)));
  }

  /** Ends all streams. */
  void endAll(RefusedException why) {
    List<StreamTarget> all = List.copyOf(targets.values());
    targets.clear();
    all.forEach(target -> end(target, why));
  }

  private static void end(StreamTarget target, RefusedException why) {
    Listeners.tell(() -> target.abandoned(why));
  }
}
