package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.coordinator.Whereabouts;
import io.lockkeeper.server.core.LeaseId;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Finds out who serves a lease: its record says on which session it is, the session's claim record
 * who owns that. Only that there is no such lease takes more than reading: a server that lags
 * behind would say so too.
 */
final class LeaseSearch extends Errand {

  private final StoreContext context;
  private final LeaseId lease;
  private final Peers peers;
  private final Consumer<Optional<Whereabouts>> answer;

  LeaseSearch(
      StoreContext context,
      Supplier<Optional<Handle>> connection,
      Runnable onOver,
      LeaseId lease,
      Peers peers,
      Consumer<Optional<Whereabouts>> answer) {
    super(context, connection, onOver);
    this.context = context;
    this.lease = lease;
    this.peers = peers;
    this.answer = answer;
  }

  @Override
  void attempt(Handle handle) {
    look(handle, () -> confirm(handle));
  }

  private void look(Handle handle, Runnable missing) {
    handle.exists(
        paths().lease(lease),
        false,
        (rc, at, ctx, stat) ->
            then(
                () -> {
                  if (rc == Code.OK.intValue() && stat != null) {
                    readClaim(handle, StorePaths.claimName(stat.getEphemeralOwner()));
                  } else if (rc == Code.NONODE.intValue()) {
                    missing.run();
                  } else {
                    onError(rc);
                  }
                }),
        null);
  }

  /** Looks again behind a write through the quorum. */
  private void confirm(Handle handle) {
    List<Op> check = List.of(Op.check(paths().leases(), Fence.ANY));
    handle.multi(
        check,
        (rc, at, ctx, results) ->
            then(
                () -> {
                  MultiReply reply = MultiReply.of(rc, results, check.size());
                  if (reply instanceof MultiReply.Committed) {
                    look(handle, () -> finish(new Whereabouts.Unknown()));
                  } else {
                    later();
                  }
                }),
        null);
  }

  private void readClaim(Handle handle, String claimName) {
    handle.getData(
        paths().claim(claimName),
        false,
        (rc, at, ctx, data, stat) -> then(() -> onClaim(claimName, rc, data, stat)),
        null);
  }

  private void onClaim(String claimName, int rc, byte @Nullable [] data, @Nullable Stat stat) {
    if (rc == Code.OK.intValue() && stat != null) {
      finish(
          ClaimRecord.read(claimName, DoubtResolution.orEmpty(data))
              .map(record -> of(claimName, new Claimed(record, stat.getVersion())))
              .orElseGet(Whereabouts.Nowhere::new));
    } else if (rc == Code.NONODE.intValue()) {
      // The session is about to go, or was never one of ours.
      finish(new Whereabouts.Nowhere());
    } else {
      onError(rc);
    }
  }

  private Whereabouts of(String claimName, Claimed claim) {
    if (claim.record().owner().equals(context.settings().coordinatorId())) {
      return new Whereabouts.Here();
    }
    return peers
        .keeperOf(claimName, claim)
        .<Whereabouts>map(Whereabouts.At::new)
        .orElseGet(Whereabouts.Nowhere::new);
  }

  private void finish(Whereabouts where) {
    finish(() -> answer.accept(Optional.of(where)));
  }

  @Override
  void tellFailed() {
    answer.accept(Optional.empty());
  }
}
