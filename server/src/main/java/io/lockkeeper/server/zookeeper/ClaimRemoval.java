package io.lockkeeper.server.zookeeper;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;

/**
 * Removes the claim records of our sessions that are gone, over another session, until that is
 * certain. A record that somebody has claimed since is left alone. Lives on the store's thread.
 */
final class ClaimRemoval {

  private static final long RETRY_MILLIS = 1_000;
  private static final int OUR_EPOCH = 0;

  private final StoreContext context;
  private final Supplier<Optional<Handle>> connection;
  private final Set<String> owed = new LinkedHashSet<>();
  private boolean retrying;

  ClaimRemoval(StoreContext context, Supplier<Optional<Handle>> connection) {
    this.context = context;
    this.connection = connection;
  }

  /** Removes the record of that name. */
  void remove(String claimName) {
    owed.add(claimName);
    attempt(claimName);
  }

  private void attempt(String claimName) {
    Optional<Handle> handle = connection.get();
    if (handle.isEmpty()) {
      retryLater();
      return;
    }
    handle
        .get()
        .delete(
            context.paths().sessions() + "/" + claimName,
            OUR_EPOCH,
            (rc, path, ctx) -> context.thread().execute(() -> onAnswer(claimName, rc)),
            null);
  }

  private void onAnswer(String claimName, int rc) {
    boolean gone =
        rc == Code.OK.intValue()
            || rc == Code.NONODE.intValue()
            || rc == Code.BADVERSION.intValue();
    if (gone) {
      owed.remove(claimName);
    } else {
      retryLater();
    }
  }

  private void retryLater() {
    if (!retrying) {
      retrying = true;
      context
          .thread()
          .after(
              RETRY_MILLIS,
              () -> {
                retrying = false;
                List.copyOf(owed).forEach(this::attempt);
              });
    }
  }
}
