package io.lockkeeper.bench.zookeeper;

import io.lockkeeper.bench.load.AsyncCrew;
import io.lockkeeper.bench.load.AsyncLocks;
import io.lockkeeper.bench.load.Crew;
import io.lockkeeper.bench.load.LoadedSystem;
import io.lockkeeper.bench.load.Order;
import io.lockkeeper.bench.load.Tally;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooDefs.Ids;

/**
 * What any lock must write, and nothing else: an entry is created and deleted, each in a write of
 * its own, and nobody looks at the queue. The limit without batching.
 */
final class SingleWrites implements LoadedSystem, AsyncLocks<String> {

  /** What all entries are under. */
  static final String ROOT = "/raw";

  private static final byte[] DATA = new byte[0];

  private final Connections connections;

  SingleWrites(Connections connections) {
    this.connections = connections;
  }

  @Override
  public Crew start(Order order, Tally tally) throws Exception {
    for (int i = 0; i < order.clients(); i++) {
      connections.ensure(directory(order.lock(i, 1)));
    }
    return AsyncCrew.start(order, tally, this);
  }

  @Override
  public CompletionStage<String> acquire(int client, String lock) {
    CompletableFuture<String> created = new CompletableFuture<>();
    connections
        .of(client)
        .create(
            directory(lock) + "/lock-",
            DATA,
            Ids.OPEN_ACL_UNSAFE,
            CreateMode.EPHEMERAL_SEQUENTIAL,
            (code, path, context, name) -> complete(created, code, name),
            created);
    return created;
  }

  @Override
  public CompletionStage<?> release(int client, String entry) {
    CompletableFuture<String> deleted = new CompletableFuture<>();
    connections
        .of(client)
        .delete(entry, -1, (code, path, context) -> complete(deleted, code, path), deleted);
    return deleted;
  }

  /** Returns the node that a lock's entries are created under. */
  static String directory(String lock) {
    return ROOT + "/" + lock.replace('/', '_');
  }

  private static void complete(CompletableFuture<String> future, int code, String value) {
    if (code == Code.OK.intValue()) {
      future.complete(value);
    } else {
      future.completeExceptionally(KeeperException.create(Code.get(code)));
    }
  }
}
