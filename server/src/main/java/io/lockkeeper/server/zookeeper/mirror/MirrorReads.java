package io.lockkeeper.server.zookeeper.mirror;

import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StoreEvent.BarrierFailed;
import io.lockkeeper.server.core.api.StoreEvent.BarrierPassed;
import io.lockkeeper.server.core.api.StoreEvent.DetailsRead;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.MultiReply;
import io.lockkeeper.server.zookeeper.client.NodeReader;
import io.lockkeeper.server.zookeeper.client.ResultCode;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.record.EntryData;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is asked once over the mirror's connection, and answered by what comes of that one attempt.
 * Lives on the store's thread.
 */
public final class MirrorReads {

  private static final Logger LOG = LoggerFactory.getLogger(MirrorReads.class);

  // Anybody's entry may hold 1 MiB: so much at a time, at most.
  private static final int MAX_READS = 32;

  private final StoreContext context;
  private final Deque<Runnable> waiting = new ArrayDeque<>();
  private final Supplier<Optional<Handle>> connection;
  private int outstanding;

  /** Asks over whatever handle {@code connection} gives at the time. */
  public MirrorReads(StoreContext context, Supplier<Optional<Handle>> connection) {
    this.context = context;
    this.connection = connection;
  }

  /** Writes through the quorum; the answer comes after every event of what was committed before. */
  public void barrier(long number) {
    Optional<Handle> handle = connection.get();
    if (handle.isEmpty()) {
      tell(new BarrierFailed(number));
      return;
    }
    List<Op> check = List.of(Op.check(context.paths().locks(), -1));
    handle
        .get()
        .multi(
            check,
            (rc, path, ctx, results) ->
                context
                    .executor()
                    .execute(() -> onBarrier(number, MultiReply.of(rc, results, check.size()))),
            null);
  }

  private void onBarrier(long number, MultiReply reply) {
    boolean passed = reply instanceof MultiReply.Committed;
    tell(passed ? new BarrierPassed(number) : new BarrierFailed(number));
  }

  /** Reads one entry. */
  public void read(LockName lock, String entry) {
    Optional<Handle> handle = connection.get();
    if (handle.isEmpty()) {
      tell(new DetailsRead(lock, entry, Optional.empty()));
      return;
    }
    waiting.add(
        () ->
            NodeReader.readOnce(
                context,
                handle.get(),
                context.paths().entry(lock, entry),
                (rc, node) -> {
                  outstanding--;
                  tell(new DetailsRead(lock, entry, read(rc, node)));
                  proceed();
                }));
    proceed();
  }

  private void proceed() {
    while (outstanding < MAX_READS && !waiting.isEmpty()) {
      outstanding++;
      waiting.removeFirst().run();
    }
  }

  private static Optional<StoreEvent.ReadEntry> read(int rc, Optional<NodeReader.Node> node) {
    // Curator's clients may have said that nobody else is to read what they write.
    return rc == Code.NOAUTH.intValue()
        ? Optional.of(EntryData.unreadable())
        : node.map(found -> EntryData.read(found.data(), found.stat().getCzxid()));
  }

  /** Deletes a guard, if there is a connection: one that stays is met again by the next rebuild. */
  public void removeGuard(LockName lock, MarkerName.Guard guard) {
    connection
        .get()
        .ifPresent(
            handle ->
                handle.delete(
                    context.paths().marker(lock, guard),
                    -1,
                    (rc, path, ctx) -> noteGuard(path, rc),
                    null));
  }

  private static void noteGuard(String path, int rc) {
    if (rc != Code.OK.intValue() && rc != Code.NONODE.intValue()) {
      LOG.atDebug()
          .addKeyValue("path", path)
          .addKeyValue("error", ResultCode.name(rc))
          .log("could not remove a guard");
    }
  }

  private void tell(StoreEvent event) {
    context.events().accept(event);
  }
}
