package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.NodeReader;
import io.lockkeeper.server.zookeeper.client.ResultCode;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.record.StorePaths;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;

/**
 * One change over the mirror's connection: attempted again, over the next connection too, until it
 * is decided or its time is up. What it does can be done twice without harm, so that it needs no
 * more than another look when an answer is lost. Lives on the store's thread.
 */
abstract sealed class RetriedChange
    permits EntryDataWrite, LimitWrite, LeaseSearch, FreezeWrite, FreezeRemoval, ThawByTime {

  /** Less than the time in which each call of a client is answered. */
  static final long LIMIT_MILLIS = 5_000;

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
  RetriedChange(StoreContext context, Supplier<Optional<Handle>> connection, Runnable onOver) {
    this.context = context;
    this.connection = connection;
    this.onOver = onOver;
  }

  /** Makes one attempt, which ends in one of the methods below. */
  abstract void attempt(Handle handle);

  /** Tells that it failed, or that nobody knows whether it did. */
  abstract void tellFailed();

  final void tell(StoreEvent event) {
    context.events().accept(event);
  }

  final void start() {
    context.executor().after(LIMIT_MILLIS, this::fail);
    again();
  }

  final StorePaths paths() {
    return context.paths();
  }

  final boolean isOver() {
    return over;
  }

  /** Runs {@code next} on the store's thread, unless the change is over by then. */
  final void then(Runnable next) {
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
  final void read(Handle handle, String path, NodeReader.ReadListener answer) {
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

  /** Makes another attempt at once, or soon if there is no connection. */
  final void again() {
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
  final void later() {
    context.executor().after(RETRY_MILLIS, this::again);
  }

  /** Decides what follows from an error that says nothing about the change itself. */
  final void onError(int rc) {
    if (rc != Code.OK.intValue() && ResultCode.of(rc) == ResultCode.REFUSED) {
      fail();
    } else {
      later();
    }
  }

  /** Ends it: {@code answer} tells how. */
  final void finish(Runnable answer) {
    if (!over) {
      over = true;
      onOver.run();
      answer.run();
    }
  }

  private void fail() {
    finish(this::tellFailed);
  }
}
