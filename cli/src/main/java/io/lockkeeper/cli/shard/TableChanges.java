package io.lockkeeper.cli.shard;

import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.server.core.shard.Shard;
import io.lockkeeper.server.core.shard.ShardTable;
import java.io.PrintWriter;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/**
 * Changes the table: in the lead's ensemble first, where only one change can follow another, then
 * in the others'. Whoever is not told has the older table until it is: it serves what it served
 * before, but for what was taken from it, which waits until it was told.
 */
final class TableChanges {

  /** How often something is tried that may do a moment later. */
  static final int ATTEMPTS = 10;

  private static final long PAUSE_MILLIS = 300;

  final Ensembles ensembles;

  TableChanges(Ensembles ensembles) {
    this.ensembles = ensembles;
  }

  /** Returns the lead's table: the newest. */
  ShardTable lead() {
    Copy here = ensembles.named();
    if (!here.isSplit()) {
      throw new CliException(
          ExitCodes.FAILED,
          "there are no shards: this service is one ensemble (\"lockkeeper shards init\" makes it the first of several)");
    }
    ShardTable table = here.table();
    Shard lead = table.shard(table.lead());
    Copy newest = here.self().equals(lead.id()) ? here : ask(lead);
    if (!newest.self().equals(lead.id())
        || !newest.table().service().equals(table.service())
        || newest.table().version() < table.version()) {
      throw new CliException(
          ExitCodes.FAILED,
          "the servers at "
              + String.join(", ", lead.addresses())
              + " are not the lead, shard '"
              + lead.id()
              + "', or have lost its table");
    }
    if (newest.partial()) {
      throw new CliException(
          ExitCodes.FAILED,
          "you do not see the whole table: it takes the right admin on all locks");
    }
    return newest.table();
  }

  private Copy ask(Shard shard) {
    try {
      return ensembles.copy(shard.addresses());
    } catch (CliException e) {
      throw of(shard, e);
    }
  }

  private static CliException of(Shard shard, CliException e) {
    return new CliException(e.exitCode(), "shard '" + shard.id() + "': " + e.getMessage(), e);
  }

  /**
   * Changes the newest table, again where somebody else has changed it meanwhile.
   *
   * @param change makes the next table, and fails where that has no sense any more
   * @return the newest table now
   * @throws CliException if it cannot be changed, or the lead does not answer
   */
  ShardTable change(UnaryOperator<ShardTable> change) {
    for (int attempt = 1; ; attempt++) {
      ShardTable next = change.apply(lead());
      try {
        write(next);
        return next;
      } catch (CliException e) {
        if (attempt == ATTEMPTS || lead().version() < next.version()) {
          throw e;
        }
      }
      pause();
    }
  }

  private void write(ShardTable next) {
    Shard lead = next.shard(next.lead());
    try {
      ensembles.set(lead.addresses(), lead.id(), next.version() - 1, next);
    } catch (CliException e) {
      // It may be done all the same.
      if (e.exitCode() != ExitCodes.UNAVAILABLE || !ask(lead).table().equals(next)) {
        throw of(lead, e);
      }
    }
  }

  /**
   * Has a shard know a table, or a newer one.
   *
   * @throws CliException if it does not answer, or is another shard
   */
  Copy bring(Shard shard, ShardTable table) {
    for (int attempt = 1; ; attempt++) {
      Copy there = ask(shard);
      if (there.isSplit()
          && !(there.self().equals(shard.id())
              && there.table().service().equals(table.service()))) {
        throw new CliException(
            ExitCodes.FAILED,
            "shard '"
                + shard.id()
                + "': its servers are those of another shard, or another service");
      }
      if (there.table().version() == table.version() && !there.table().equals(table)) {
        throw new CliException(
            ExitCodes.FAILED,
            "shard '"
                + shard.id()
                + "' has another table of version "
                + table.version()
                + " than the lead: one of them was written by other means");
      }
      if (there.table().version() >= table.version()) {
        return there;
      }
      try {
        ensembles.set(shard.addresses(), shard.id(), there.table().version(), table);
      } catch (CliException e) {
        if (attempt >= ATTEMPTS || e.exitCode() == ExitCodes.USAGE) {
          throw of(shard, e);
        }
      }
      if (attempt >= ATTEMPTS) {
        throw new CliException(
            ExitCodes.FAILED, "shard '" + shard.id() + "' was told, and does not say so");
      }
      pause();
    }
  }

  /** Lets others do something before one looks again. */
  static void pause() {
    CompletableFuture.runAsync(
            () -> {}, CompletableFuture.delayedExecutor(PAUSE_MILLIS, TimeUnit.MILLISECONDS))
        .join();
  }

  /**
   * Has all shards know a table that was made the newest, and says who does not.
   *
   * @param needed the ids of those without whom it is not done
   * @return the exit code
   */
  int finish(ShardTable table, Set<String> needed, PrintWriter err) {
    boolean done = true;
    boolean all = true;
    for (Shard shard : table.shards().values()) {
      try {
        var unused = bring(shard, table);
      } catch (CliException e) {
        err.println("lockkeeper: not told yet: " + e.getMessage());
        done &= !needed.contains(shard.id());
        all = false;
      }
    }
    if (!all) {
      err.println("\"lockkeeper shards sync\" tells them, as soon as they answer.");
    }
    return done ? ExitCodes.OK : ExitCodes.FAILED;
  }
}
