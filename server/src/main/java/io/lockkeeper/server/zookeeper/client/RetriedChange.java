package io.lockkeeper.server.zookeeper.client;

import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.zookeeper.record.StorePaths;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;

/**
 * One change that is attempted again, over the next connection too, until it is decided or its time
 * is up. What it does can be done twice without harm, so that it needs no more than another look
 * when an answer is lost. Lives on the store's thread.
 */
public abstract class RetriedChange {

  private static final long RETRY_MILLIS = 100;
  private static final int MAX_ATTEMPTS = 1_000;

  private final StoreContext context;
  private final Supplier<Optional<Handle>> connection;
  private final Runnable onOver;
  private int attempts;
  private boolean over;

  /**
   * Makes a change over whatever handle {@code connection} gives at the time; runs {@code onOver}
   * once, at its end.
   */
  protected RetriedChange(
      StoreContext context, Supplier<Optional<Handle>> connection, Runnable onOver) {
    this.context = context;
    this.connection = connection;
    this.onOver = onOver;
  }

  /** Makes one attempt, which ends in one of the methods below. */
  protected abstract void attempt(Handle handle);

  /** Tells that it failed, or that nobody knows whether it did. */
  protected abstract void tellFailed();

  /** Makes attempts until it is decided, for no longer than the limit. */
  public final void start(long limitMillis) {
    context.executor().after(limitMillis, this::fail);
    again();
  }

  /** Ends it: it failed. */
  public final void fail() {
    finish(this::tellFailed);
  }

  protected final void tell(StoreEvent event) {
    context.events().accept(event);
  }

  protected final StoreContext context() {
    return context;
  }

  protected final StorePaths paths() {
    return context.paths();
  }

  /** Runs {@code next} on the store's thread, unless the change is over by then. */
  protected final void then(Runnable next) {
    context
        .executor()
        .execute(
            () -> {
              if (!over) {
                next.run();
              }
            });
  }

  /** Reads a node, and tells what came of it unless the change is over by then. */
  protected final void read(Handle handle, String path, NodeReader.ReadListener answer) {
    NodeReader.readOnce(
        context,
        handle,
        path,
        (rc, node) -> {
          if (!over) {
            answer.onRead(rc, node);
          }
        });
  }

  /** Writes a transaction, and tells what came of it unless the change is over by then. */
  protected final void multi(Handle handle, List<Op> operations, Consumer<MultiReply> answer) {
    handle.multi(
        operations,
        (rc, path, ctx, results) ->
            then(() -> answer.accept(MultiReply.of(rc, results, operations.size()))),
        null);
  }

  /**
   * Checks whether a node exists, in a transaction: the quorum knows what a server that lags behind
   * does not. What is read over the same handle from then on is no older.
   */
  protected final void check(Handle handle, String path, Consumer<MultiReply> answer) {
    multi(handle, List.of(Op.check(path, Fence.ANY)), answer);
  }

  /** Makes another attempt at once, or soon if there is no connection. */
  protected final void again() {
    attempts++;
    if (over) {
      return;
    }
    if (attempts > MAX_ATTEMPTS) {
      fail();
      return;
    }
    connection.get().ifPresentOrElse(this::attempt, this::later);
  }

  /** Makes another attempt in a while. */
  protected final void later() {
    context.executor().after(RETRY_MILLIS, this::again);
  }

  /** Decides what follows from an error that says nothing about the change itself. */
  protected final void onError(int rc) {
    if (rc != Code.OK.intValue() && ResultCode.of(rc) == ResultCode.REFUSED) {
      fail();
    } else {
      later();
    }
  }

  /** Ends it: {@code answer} tells how. */
  protected final void finish(Runnable answer) {
    if (!over) {
      over = true;
      onOver.run();
      answer.run();
    }
  }
}
