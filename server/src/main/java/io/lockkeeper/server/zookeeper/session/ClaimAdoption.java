package io.lockkeeper.server.zookeeper.session;

import io.lockkeeper.server.zookeeper.client.Fence;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.MultiReply;
import io.lockkeeper.server.zookeeper.client.NodeReader;
import io.lockkeeper.server.zookeeper.client.ResultCode;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.record.ClaimRecord;
import io.lockkeeper.server.zookeeper.record.VersionedClaim;
import java.util.List;
import java.util.Optional;
import java.util.function.BiPredicate;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
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
final class ClaimAdoption {

  private static final Logger LOG = LoggerFactory.getLogger(ClaimAdoption.class);
  private static final long RETRY_MILLIS = 100;
  private static final long LIMIT_MILLIS = 30_000;

  private final StoreContext context;
  private final Supplier<Optional<Handle>> connection;
  private final String name;
  private final BiPredicate<String, VersionedClaim> orphaned;
  private final AdoptionListener listener;
  private long attemptedEpoch = -1;
  private boolean certain;
  private boolean over;

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
    this.context = context;
    this.connection = connection;
    this.name = name;
    this.orphaned = orphaned;
    this.listener = listener;
  }

  String name() {
    return name;
  }

  void start() {
    context.executor().after(LIMIT_MILLIS, () -> end(listener::onLost));
    attempt();
  }

  /** Makes it tell nothing more. What has been written stays, for others to adopt. */
  void cancel() {
    over = true;
  }

  private String path() {
    return context.paths().claim(name);
  }

  private void attempt() {
    Optional<Handle> handle = connection.get();
    if (over) {
      return;
    }
    if (handle.isEmpty()) {
      later();
    } else if (isInDoubt()) {
      passBarrier(handle.get());
    } else {
      read(handle.get());
    }
  }

  private boolean isInDoubt() {
    return attemptedEpoch >= 0;
  }

  private void later() {
    context.executor().after(RETRY_MILLIS, this::attempt);
  }

  /** Runs {@code next} on the store's thread, unless it is over by then. */
  private void then(Runnable next) {
    context
        .executor()
        .execute(
            () -> {
              if (!over) {
                next.run();
              }
            });
  }

  /** A server that lags behind would not show what we have written. */
  private void passBarrier(Handle handle) {
    List<Op> check = List.of(Op.check(path(), Fence.ANY));
    handle.multi(
        check,
        (rc, at, ctx, results) ->
            then(
                () -> {
                  MultiReply reply = MultiReply.of(rc, results, check.size());
                  if (reply instanceof MultiReply.Committed) {
                    read(handle);
                  } else if (reply instanceof MultiReply.Culprit culprit) {
                    onError(culprit.code());
                  } else {
                    later();
                  }
                }),
        null);
  }

  private void read(Handle handle) {
    NodeReader.readOnce(
        context,
        handle,
        path(),
        (rc, node) ->
            then(
                () ->
                    node.ifPresentOrElse(
                        claim -> judge(handle, claim.data(), claim.stat()), () -> onError(rc))));
  }

  private void judge(Handle handle, byte[] data, Stat stat) {
    Optional<ClaimRecord> record = ClaimRecord.read(name, data);
    if (record.isEmpty()) {
      end(listener::onLost);
      return;
    }
    VersionedClaim claim = new VersionedClaim(record.get(), stat.getVersion());
    String self = context.settings().coordinatorId();
    if (isInDoubt()
        && claim.record().owner().equals(self)
        && claim.record().epoch() == attemptedEpoch) {
      end(() -> listener.onTaken(taken(claim.record(), stat)));
    } else if (orphaned.test(name, claim) && isUsable(claim.version())) {
      certain = claim.record().isLeftBehind(self, context.settings().home());
      write(handle, claim.record().by(self, context.settings().home()), claim.version());
    } else {
      end(listener::onLost);
    }
  }

  /** After four thousand million adoptions the version would be the one that fits any. */
  private static boolean isUsable(int version) {
    return version != Fence.ANY && version + 1 != Fence.ANY;
  }

  private void write(Handle handle, ClaimRecord ours, int version) {
    handle.setData(
        path(),
        ours.write(),
        version,
        (rc, at, ctx, stat) -> then(() -> onWritten(rc, ours, stat)),
        null);
  }

  private void onWritten(int rc, ClaimRecord ours, @Nullable Stat stat) {
    if (rc == Code.OK.intValue() && stat != null) {
      end(() -> listener.onTaken(taken(ours, stat)));
    } else if (rc == Code.BADVERSION.intValue()) {
      if (isInDoubt()) {
        attempt();
      } else {
        end(listener::onLost);
      }
    } else {
      if (ResultCode.of(rc) == ResultCode.IN_DOUBT) {
        attemptedEpoch = ours.epoch();
      }
      onError(rc);
    }
  }

  private AdoptedClaim taken(ClaimRecord ours, Stat stat) {
    return new AdoptedClaim(
        new Claim(name, stat.getVersion()),
        ours.session(),
        ours.timeoutMillis(),
        System.nanoTime(),
        certain);
  }

  private void onError(int rc) {
    if (rc == Code.NONODE.intValue()) {
      end(listener::onGone);
    } else if (rc != Code.OK.intValue() && ResultCode.of(rc) == ResultCode.REFUSED) {
      LOG.atWarn()
          .addKeyValue("claim", name)
          .addKeyValue("error", ResultCode.name(rc))
          .log("cannot take the claim of an orphaned session");
      end(listener::onLost);
    } else {
      later();
    }
  }

  private void end(Runnable outcome) {
    if (!over) {
      over = true;
      outcome.run();
    }
  }
}
