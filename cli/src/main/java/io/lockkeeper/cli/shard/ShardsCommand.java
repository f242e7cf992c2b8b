package io.lockkeeper.cli.shard;

import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.LockText;
import io.lockkeeper.cli.text.OutputOptions;
import io.lockkeeper.cli.text.Table;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.server.core.shard.Shard;
import io.lockkeeper.server.core.shard.ShardTable;
import io.lockkeeper.server.rpc.wire.ShardMessages;
import java.io.PrintWriter;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * Shows the table of shards, and whether all ensembles have the same; has subcommands that change
 * it.
 */
@Command(
    name = "shards",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Shows which shard serves which namespaces, and whether all shards' ensembles say the same; and what changes that.",
      "",
      "A shard is one ensemble with its servers, a namespace the first part of a lock's name. --server names servers of any"
          + " shard; the others are found by the table."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:all shards have the same table, or there are none",
      "1:a shard has an older one, or does not answer; it was refused",
      "2:the command line is wrong",
      "69:no server answers"
    },
    subcommands = {
      ShardsInitCommand.class,
      ShardsSetCommand.class,
      ShardsMoveCommand.class,
      ShardsHashCommand.class,
      ShardsSyncCommand.class,
      ShardsRemoveCommand.class
    })
public final class ShardsCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Mixin private OutputOptions output;
  @Mixin private ServerOptions options;

  /** What one shard says, or why it says nothing. */
  private record Heard(Optional<Copy> copy, String failure) {}

  @Override
  public Integer call() {
    options.prepare();
    Ensembles ensembles = new Ensembles(options);
    Copy here = ensembles.named();
    PrintWriter out = spec.commandLine().getOut();
    if (!here.isSplit()) {
      output.print(
          ShardMessages.toMessage(here.table()),
          out,
          "there are no shards: this service is one ensemble");
      return ExitCodes.OK;
    }
    Map<String, Heard> heard = new LinkedHashMap<>();
    here.table().shards().values().forEach(shard -> heard.put(shard.id(), ask(ensembles, shard)));
    ShardTable newest =
        heard.values().stream()
            .flatMap(one -> one.copy().stream())
            .map(Copy::table)
            .max(Comparator.comparingLong(ShardTable::version))
            .filter(table -> table.version() > here.table().version())
            .orElse(here.table());
    newest
        .shards()
        .values()
        .forEach(shard -> heard.computeIfAbsent(shard.id(), id -> ask(ensembles, shard)));
    output.print(
        ShardMessages.toMessage(newest), out, (message, printer) -> print(newest, heard, printer));
    return newest.shards().keySet().stream().allMatch(id -> agrees(of(heard, id), id, newest))
        ? ExitCodes.OK
        : disagree();
  }

  private int disagree() {
    PrintWriter err = spec.commandLine().getErr();
    err.println(
        "lockkeeper: not all shards have this table. \"lockkeeper shards sync\" tells those that answer.");
    return ExitCodes.FAILED;
  }

  private static Heard ask(Ensembles ensembles, Shard shard) {
    try {
      return new Heard(Optional.of(ensembles.copy(shard.addresses())), "");
    } catch (CliException e) {
      return new Heard(
          Optional.empty(), String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
    }
  }

  private static Heard of(Map<String, Heard> heard, String id) {
    return Optional.ofNullable(heard.get(id)).orElseThrow();
  }

  private static boolean agrees(Heard heard, String id, ShardTable newest) {
    return heard.copy().filter(copy -> isSame(copy, id, newest)).isPresent();
  }

  private static boolean isSame(Copy copy, String id, ShardTable newest) {
    return copy.self().equals(id) && copy.table().equals(newest);
  }

  private void print(ShardTable table, Map<String, Heard> heard, PrintWriter out) {
    out.println("version " + table.version() + " of the table; shard '" + table.lead() + "' leads");
    Table shards = new Table(output.style(), "SHARD", "SERVES", "TABLE", "ADDRESSES");
    for (Shard shard : table.shards().values()) {
      shards.row(
          shard.id(),
          serves(table, shard),
          state(table, shard, of(heard, shard.id())),
          Text.plain(String.join(",", shard.addresses())));
    }
    shards.printPart(out, 0);
    Table namespaces = new Table(output.style(), "NAMESPACE", "SHARD", "MOVES TO");
    table
        .namespaces()
        .forEach(
            (name, place) ->
                namespaces.row(
                    Text.plain(name),
                    place.shard(),
                    table.moves().getOrDefault(name, LockText.NONE)));
    namespaces.printPart(out, 0);
  }

  private static String serves(ShardTable table, Shard shard) {
    long named =
        table.namespaces().values().stream().filter(at -> at.shard().equals(shard.id())).count();
    String hashed = shard.hashed() ? ", and what is not named" : "";
    return named + " named" + (table.joining().equals(shard.id()) ? ", is joining" : hashed);
  }

  private static String state(ShardTable newest, Shard shard, Heard heard) {
    if (heard.copy().isEmpty()) {
      return "unknown: " + Text.plain(heard.failure());
    }
    Copy copy = heard.copy().get();
    if (!copy.isSplit()) {
      return "none";
    }
    if (!copy.self().equals(shard.id())) {
      return "it is shard '" + Text.plain(copy.self()) + "'";
    }
    return copy.table().version() == newest.version() && !isSame(copy, shard.id(), newest)
        ? "another of version " + newest.version()
        : "version " + copy.table().version();
  }
}
