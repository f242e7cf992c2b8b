package io.lockkeeper.server.zookeeper.session;

import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.client.StoreStats;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;

/**
 * Removes the claim records of our lock sessions that are none any more, until that is certain. A
 * record that somebody has claimed since is left alone. Lives on the store's thread.
 */
public final class ClaimRemoval {

  private static final long RETRY_MILLIS = 1_000;

  private final StoreContext context;
  private final Supplier<Optional<Handle>> connection;
  private final Map<String, Claim> owed = new LinkedHashMap<>();
  private boolean retrying;

  public ClaimRemoval(StoreContext context, Supplier<Optional<Handle>> connection) {
    this.context = context;
    this.connection = connection;
  }

  /** Removes the record of a claim. */
  void remove(Claim claim) {
    owed.put(claim.name(), claim);
    attempt(claim);
  }

  /** Returns the names of the records that may still be there. */
  Set<String> owed() {
    return Collections.unmodifiableSet(owed.keySet());
  }

  private void attempt(Claim claim) {
    Optional<Handle> handle = connection.get();
    if (handle.isEmpty()) {
      retryLater();
      return;
    }
    handle
        .get()
        .delete(
            context.paths().claim(claim.name()),
            claim.epoch(),
            (rc, path, ctx) -> context.executor().execute(() -> onAnswer(claim, rc)),
            null);
  }

  private void onAnswer(Claim claim, int rc) {
    boolean gone =
        rc == Code.OK.intValue()
            || rc == Code.NONODE.intValue()
            || rc == Code.BADVERSION.intValue();
    if (rc == Code.OK.intValue()) {
      context.stats().add(StoreStats.StoreCount.CLAIMS_REMOVED, 1);
    }
    if (gone) {
      owed.remove(claim.name(), claim);
    } else {
      retryLater();
    }
  }

  private void retryLater() {
    if (!retrying) {
      retrying = true;
      context
          .executor()
          .after(
              RETRY_MILLIS,
              () -> {
                retrying = false;
                List.copyOf(owed.values()).forEach(this::attempt);
              });
    }
  }
}
