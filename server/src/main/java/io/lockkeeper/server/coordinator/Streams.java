package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.core.Effect;
import io.lockkeeper.server.core.StreamId;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The streams that notices go to. On the event loop only. */
final class Streams {

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

  private Optional<StreamTarget> find(StreamId stream) {
    return Optional.ofNullable(targets.get(stream));
  }

  void tell(Effect.Tell effect) {
    find(effect.stream())
        .filter(t -> t.notice(effect.requestId(), effect.sequence(), effect.notice()))
        .ifPresent(t -> targets.remove(effect.stream()));
  }

  void refuse(Effect.Refuse effect) {
    find(effect.stream())
        .filter(t -> t.refused(effect.requestId(), new RefusedException(effect.failure())))
        .ifPresent(t -> targets.remove(effect.stream()));
  }

  void tellLeaseEnd(Effect.TellLeaseEnd effect) {
    Optional.ofNullable(targets.remove(effect.stream()))
        .ifPresent(target -> target.leaseEnded(effect.end()));
  }

  void sendAway(Effect.SendAway effect) {
    Optional.ofNullable(targets.remove(effect.stream()))
        .ifPresent(target -> target.sentAway(effect.reason()));
  }

  void supersede(Effect.Supersede effect) {
    Optional.ofNullable(targets.remove(effect.stream())).ifPresent(StreamTarget::superseded);
  }
}
