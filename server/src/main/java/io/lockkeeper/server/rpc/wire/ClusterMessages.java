package io.lockkeeper.server.rpc.wire;

import io.lockkeeper.server.coordinator.api.ClusterView;
import io.lockkeeper.server.coordinator.api.StoreView;
import io.lockkeeper.server.core.api.CoreCounts.SessionCounts;
import io.lockkeeper.server.core.api.CoreSettings;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.v1.CoordinatorState;
import io.lockkeeper.v1.EnsembleState;
import io.lockkeeper.v1.GetClusterResponse;
import io.lockkeeper.v1.LockSessionState;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Translates what a coordinator knows of its cluster. */
public final class ClusterMessages {

  private static final int MAX_SHOWN = 1_000;
  private static final long PERCENT = 100;

  private ClusterMessages() {}

  /**
   * Returns the answer of a coordinator.
   *
   * @param serves whether a peer can renew leases, by its id
   */
  public static GetClusterResponse toResponse(
      ClusterView view, String ownId, Predicate<String> serves) {
    GetClusterResponse.Builder message =
        GetClusterResponse.newBuilder()
            .setCoordinatorId(ownId)
            .setVersion(ServerVersion.text())
            .setMirrorCurrent(view.counts().mirrorCurrent())
            .setSessionCount(view.store().sessions().size())
            .setOrphanCount(
                (int) view.store().sessions().stream().filter(StoreView.Session::orphaned).count())
            .setEnsemble(
                EnsembleState.newBuilder()
                    .addAllServers(view.store().servers())
                    .setConnectedTo(view.store().connectedTo().orElse("")));
    addCoordinators(message, view, ownId, serves);
    Map<SessionKey, SessionCounts> own =
        view.counts().sessions().stream()
            .collect(Collectors.toMap(SessionCounts::key, Function.identity()));
    view.store().sessions().stream()
        .limit(MAX_SHOWN)
        .forEach(session -> message.addSessions(toMessage(session, own)));
    view.frozen().forEach(frozen -> message.addFrozen(Messages.toFrozen(frozen)));
    return message.build();
  }

  private static void addCoordinators(
      GetClusterResponse.Builder message,
      ClusterView view,
      String ownId,
      Predicate<String> serves) {
    boolean ownServes =
        !view.draining()
            && view.counts().sessions().stream().anyMatch(s -> s.provenAlive() && s.sure());
    boolean ownListed = false;
    for (StoreView.Member member : view.store().members().stream().limit(MAX_SHOWN).toList()) {
      boolean own = member.peer().id().equals(ownId);
      ownListed |= own;
      message.addCoordinators(
          CoordinatorState.newBuilder()
              .setCoordinatorId(member.peer().id())
              .setAddress(member.peer().address())
              .setKnownFor(ProtoDurations.ofNanos(member.knownForNanos()))
              .setServing(own ? ownServes : serves.test(member.peer().id()))
              .setDraining(own && view.draining()));
    }
    if (!ownListed) {
      // One that has left, or has no node at the moment.
      message.addCoordinators(
          CoordinatorState.newBuilder()
              .setCoordinatorId(ownId)
              .setServing(ownServes)
              .setDraining(view.draining()));
    }
  }

  private static LockSessionState toMessage(
      StoreView.Session session, Map<SessionKey, SessionCounts> own) {
    LockSessionState.Builder message =
        LockSessionState.newBuilder()
            .setSession(session.name())
            .setCoordinatorId(session.owner())
            .setEpoch(session.epoch())
            .setOrphaned(session.orphaned());
    session
        .own()
        .map(own::get)
        .ifPresent(
            counts ->
                message
                    .setLeases(counts.leases())
                    .setUsedPercent(percent(counts.pathBytes()))
                    .setUsable(counts.provenAlive() && counts.sure()));
    return message.build();
  }

  private static int percent(long pathBytes) {
    return (int) (PERCENT * pathBytes / CoreSettings.defaults().maxSessionPathBytes());
  }
}
