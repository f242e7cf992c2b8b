package io.lockkeeper.server.zookeeper.session;

import io.lockkeeper.server.core.api.Promises;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.NodeReader;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.record.ClaimRecord;
import java.util.Optional;

/**
 * The last change of a claim by a coordinator that leaves: adds what it has promised to clients. It
 * raises the epoch, so that nothing that the coordinator sends later is done. Where it fails the
 * adopter gives every lease the grace that follows a crash. Lives on the store's thread.
 */
final class ClaimFarewell {

  private ClaimFarewell() {}

  /** Writes over the session's own connection, behind everything that was sent on it. */
  static void write(
      StoreContext context, Handle handle, Claim claim, Promises promises, Runnable done) {
    String path = context.paths().claim(claim.name());
    NodeReader.readOnce(
        context,
        handle,
        path,
        (rc, node) -> {
          Optional<ClaimRecord> record =
              node.filter(read -> read.stat().getVersion() == claim.epoch())
                  .flatMap(read -> ClaimRecord.read(claim.name(), read.data()));
          if (record.isEmpty()) {
            done.run();
            return;
          }
          handle.setData(
              path,
              record.get().leaving(promises).write(),
              claim.epoch(),
              (code, at, ctx, stat) -> context.executor().execute(done),
              null);
        });
  }
}
