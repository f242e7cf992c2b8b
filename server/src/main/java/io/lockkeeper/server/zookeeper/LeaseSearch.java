package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.coordinator.api.LeaseLocation;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.MultiReply;
import io.lockkeeper.server.zookeeper.client.NodeReader;
import io.lockkeeper.server.zookeeper.client.RetriedChange;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.commit.LeaseRecording;
import io.lockkeeper.server.zookeeper.member.Members;
import io.lockkeeper.server.zookeeper.record.ClaimRecord;
import io.lockkeeper.server.zookeeper.record.Json;
import io.lockkeeper.server.zookeeper.record.StorePaths;
import io.lockkeeper.server.zookeeper.record.VersionedClaim;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;

/**
 * Finds out who serves a lease: its record says on which session it is, the session's claim record
 * who owns that. Only that there is no such lease takes more than reading: a server that lags
 * behind would say so too.
 */
final class LeaseSearch extends RetriedChange {

  private final LeaseId lease;
  private final Members members;
  private final Consumer<Optional<LeaseLocation>> answer;

  LeaseSearch(
      StoreContext context,
      Supplier<Optional<Handle>> connection,
      Runnable onOver,
      LeaseId lease,
      Members members,
      Consumer<Optional<LeaseLocation>> answer) {
    super(context, connection, onOver);
    this.lease = lease;
    this.members = members;
    this.answer = answer;
  }

  @Override
  protected void attempt(Handle handle) {
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
                    onRecord(handle, stat);
                  } else if (rc == Code.NONODE.intValue()) {
                    missing.run();
                  } else {
                    onError(rc);
                  }
                }),
        null);
  }

  private void onRecord(Handle handle, Stat stat) {
    if (stat.getEphemeralOwner() == 0) {
      nobodys("it is on no session");
    } else {
      readClaim(handle, StorePaths.claimName(stat.getEphemeralOwner()));
    }
  }

  private void nobodys(String why) {
    context().problems().foreign(paths().lease(lease), "no lease can be served from it: " + why);
    finish(new LeaseLocation.Unknown());
  }

  /** Looks again behind a write through the quorum. */
  private void confirm(Handle handle) {
    check(
        handle,
        paths().leases(),
        reply -> {
          if (reply instanceof MultiReply.Committed) {
            look(handle, () -> finish(new LeaseLocation.Unknown()));
          } else {
            later();
          }
        });
  }

  private void readClaim(Handle handle, String claimName) {
    read(handle, paths().claim(claimName), (rc, node) -> onClaim(handle, claimName, rc, node));
  }

  /** A claim is there before anything else is on its session, and for as long as it can be used. */
  private void confirmNoClaim(Handle handle, String claimName) {
    check(
        handle,
        paths().claim(claimName),
        reply -> {
          if (reply instanceof MultiReply.Culprit culprit
              && culprit.code() == Code.NONODE.intValue()) {
            nobodys("its session is none of ours");
          } else {
            later();
          }
        });
  }

  /**
   * Where whoever owns the session is said to be us, or nobody, the lease comes from its record
   * alone: one that cannot be read is no lease for anybody, unless another release can read it and
   * may adopt it still.
   */
  private void onLocated(Handle handle, LeaseLocation where) {
    if (where instanceof LeaseLocation.At) {
      finish(where);
      return;
    }
    read(
        handle,
        paths().lease(lease),
        (rc, node) -> {
          boolean waits =
              where instanceof LeaseLocation.Nowhere
                  && node.filter(n -> Json.isOfAnotherRelease(n.data())).isPresent();
          if (node.isPresent()
              && !waits
              && LeaseRecording.read(lease, node.get().data()).isEmpty()) {
            nobodys("it cannot be understood");
          } else if (node.isPresent() || rc == Code.NONODE.intValue()) {
            finish(where);
          } else {
            onError(rc);
          }
        });
  }

  private void onClaim(Handle handle, String claimName, int rc, Optional<NodeReader.Node> node) {
    if (node.isPresent()) {
      onClaim(handle, claimName, node.get());
    } else if (rc == Code.NONODE.intValue()) {
      confirmNoClaim(handle, claimName);
    } else {
      onError(rc);
    }
  }

  private void onClaim(Handle handle, String claimName, NodeReader.Node node) {
    Optional<ClaimRecord> record = ClaimRecord.read(claimName, node.data());
    if (record.isPresent()) {
      VersionedClaim claim = new VersionedClaim(record.get(), node.stat().getVersion());
      onLocated(handle, of(claimName, claim));
    } else if (Json.isOfAnotherRelease(node.data())) {
      // Whoever wrote it serves the lease, or will be followed by somebody who can read it.
      finish(new LeaseLocation.Nowhere());
    } else {
      nobodys("the claim of its session cannot be understood");
    }
  }

  private LeaseLocation of(String claimName, VersionedClaim claim) {
    if (claim.record().owner().equals(context().settings().member().coordinatorId())) {
      return new LeaseLocation.Here();
    }
    return members
        .keeperOf(claimName, claim)
        .<LeaseLocation>map(LeaseLocation.At::new)
        .orElseGet(LeaseLocation.Nowhere::new);
  }

  private void finish(LeaseLocation where) {
    finish(() -> answer.accept(Optional.of(where)));
  }

  @Override
  protected void tellFailed() {
    answer.accept(Optional.empty());
  }
}
