package io.lockkeeper.server.zookeeper.session;

import io.lockkeeper.server.core.api.Promises;
import io.lockkeeper.server.zookeeper.client.Fence;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.MultiReply;
import io.lockkeeper.server.zookeeper.client.ResultCode;
import io.lockkeeper.server.zookeeper.client.RetriedChange;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.record.ClaimRecord;
import io.lockkeeper.server.zookeeper.record.VersionedClaim;
import io.lockkeeper.server.zookeeper.record.ZooKeeperSettings;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BiPredicate;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the claim to an orphaned session: reads its record, and writes ours over it if nobody else
 * has meanwhile. So at most one coordinator takes it, and only that one touches the session.
 *
 * <p>When the answer to the write is lost, the record is read back behind a barrier. If even that
 * is impossible for long, nothing comes of it; should the write have been done, the record is then
 * found to be ours without our knowing, and taken again. Lives on the store's thread.
 */
final class ClaimAdoption extends RetriedChange {

  private static final Logger LOG = LoggerFactory.getLogger(ClaimAdoption.class);
  private static final long LIMIT_MILLIS = 30_000;

  private final String name;
  private final BiPredicate<String, VersionedClaim> orphaned;
  private final AdoptionListener listener;
  private long attemptedEpoch = -1;
  private boolean certain;
  private Optional<Promises> promises = Optional.empty();

  /** Hears how it ends. */
  interface AdoptionListener {
    /** The claim is ours. */
    void onTaken(AdoptedClaim adoptedClaim);

    /** Somebody else has it. */
    void onLost();

    /** There is no such claim. */
    void onGone();
  }

  /**
   * Works over whatever handle {@code connection} gives at the time.
   *
   * @param orphaned whether a claim as it is now may be taken
   */
  ClaimAdoption(
      StoreContext context,
      Supplier<Optional<Handle>> connection,
      String name,
      BiPredicate<String, VersionedClaim> orphaned,
      AdoptionListener listener) {
    super(context, connection, () -> {});
    this.name = name;
    this.orphaned = orphaned;
    this.listener = listener;
  }

  String name() {
    return name;
  }

  void start() {
    start(LIMIT_MILLIS);
  }

  /** Makes it tell nothing more. What has been written stays, for others to adopt. */
  void cancel() {
    finish(() -> {});
  }

  private String path() {
    return paths().claim(name);
  }

  @Override
  protected void attempt(Handle handle) {
    if (isInDoubt()) {
      // A server that lags behind would not show what we have written.
      check(handle, path(), reply -> onChecked(handle, reply));
    } else {
      read(handle);
    }
  }

  private boolean isInDoubt() {
    return attemptedEpoch >= 0;
  }

  private void onChecked(Handle handle, MultiReply reply) {
    if (reply instanceof MultiReply.Committed) {
      read(handle);
    } else if (reply instanceof MultiReply.Culprit culprit) {
      onFailure(culprit.code());
    } else {
      later();
    }
  }

  private void read(Handle handle) {
    read(
        handle,
        path(),
        (rc, node) ->
            node.ifPresentOrElse(
                claim -> judge(handle, claim.data(), claim.stat()), () -> onFailure(rc)));
  }

  private void judge(Handle handle, byte[] data, Stat stat) {
    Optional<ClaimRecord> record = ClaimRecord.read(name, data);
    if (record.isEmpty()) {
      fail();
      return;
    }
    VersionedClaim claim = new VersionedClaim(record.get(), stat.getVersion());
    ZooKeeperSettings.Member self = context().settings().member();
    if (isInDoubt()
        && claim.record().owner().equals(self.coordinatorId())
        && claim.record().epoch() == attemptedEpoch) {
      finish(() -> listener.onTaken(taken(claim.record(), stat)));
    } else if (orphaned.test(name, claim) && isUsable(claim.version())) {
      certain = claim.record().isLeftBehind(self.coordinatorId(), self.home());
      promises = claim.record().promises();
      write(handle, claim.record().by(self.coordinatorId(), self.home()), claim.version());
    } else {
      fail();
    }
  }

  /** After four thousand million adoptions the version would be the one that fits any. */
  private static boolean isUsable(int version) {
    return version != Fence.ANY && version + 1 != Fence.ANY;
  }

  private void write(Handle handle, ClaimRecord ours, int version) {
    long zxidBefore = context().highestZxid().get();
    handle.setData(
        path(),
        ours.write(),
        version,
        (rc, at, ctx, stat) -> then(() -> onWritten(rc, ours, stat, zxidBefore)),
        null);
  }

  private void onWritten(int rc, ClaimRecord ours, @Nullable Stat stat, long zxidBefore) {
    if (rc == Code.OK.intValue() && stat != null) {
      if (context().isLater(zxidBefore, stat.getMzxid())) {
        finish(() -> listener.onTaken(taken(ours, stat)));
      } else {
        fail();
      }
    } else if (rc == Code.BADVERSION.intValue()) {
      if (isInDoubt()) {
        again();
      } else {
        fail();
      }
    } else {
      if (ResultCode.of(rc) == ResultCode.IN_DOUBT) {
        attemptedEpoch = ours.epoch();
      }
      onFailure(rc);
    }
  }

  private AdoptedClaim taken(ClaimRecord ours, Stat stat) {
    return new AdoptedClaim(
        new Claim(name, stat.getVersion()),
        ours.session(),
        Duration.ofMillis(ours.timeoutMillis()),
        System.nanoTime(),
        certain,
        promises);
  }

  private void onFailure(int rc) {
    if (rc == Code.NONODE.intValue()) {
      finish(listener::onGone);
      return;
    }
    if (rc != Code.OK.intValue() && ResultCode.of(rc) == ResultCode.REFUSED) {
      LOG.atWarn()
          .addKeyValue("claim", name)
          .addKeyValue("error", ResultCode.name(rc))
          .log("cannot take the claim of an orphaned session");
    }
    onError(rc);
  }

  @Override
  protected void tellFailed() {
    listener.onLost();
  }
}
