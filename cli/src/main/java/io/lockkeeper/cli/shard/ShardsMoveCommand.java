package io.lockkeeper.cli.shard;

import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.DurationConverter;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.server.core.shard.ShardTable;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Moves a namespace to another shard. */
@Command(
    name = "move",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Moves a namespace to another shard: grants nothing new, asks the holders to give way, waits until nobody holds or waits"
          + " there, and lets the other shard serve it, with fencing tokens above all that were granted before.",
      "",
      "Meanwhile requests are told to ask again. Where it is interrupted, the same command goes on, and --undo takes it back."
          + " Curator's clients on the same path do not know of shards, and must have gone.",
      "",
      "It takes the rights admin, read, request-release, release-others and configure on all locks."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:moved",
      "1:it is still held, and the move is undone; or it was refused, or a shard does not answer: the message says whether"
          + " anybody serves the namespace",
      "2:the command line is wrong",
      "69:no server answers"
    })
public final class ShardsMoveCommand implements Callable<Integer> {

  private static final Duration MOST = Duration.ofHours(1);

  @Spec private CommandSpec spec;

  @Parameters(
      index = "0",
      paramLabel = "NAMESPACE",
      description = "The first part of the locks' names.")
  private String namespace;

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "SHARD",
      description = "Where to; not with --undo.")
  private Optional<String> to = Optional.empty();

  @Option(
      names = "--wait",
      paramLabel = "DURATION",
      converter = DurationConverter.class,
      defaultValue = "1m",
      description = "How long holders have to give way, 0s to 1h. [default ${DEFAULT-VALUE}]")
  private Duration time = Duration.ofMinutes(1);

  @Option(
      names = "--force",
      description =
          "Take away what they still hold after that, and wait for its lock delays. [default: undo the move]")
  private boolean force;

  @Option(names = "--undo", description = "Take back a move that is under way.")
  private boolean undo;

  @Mixin private ServerOptions options;

  @Override
  public Integer call() {
    options.prepare();
    DurationConverter.require("--wait", time, Duration.ZERO, MOST);
    if (undo == to.isPresent()) {
      throw new CliException(
          ExitCodes.USAGE, undo ? "--undo: does not go with a SHARD" : "SHARD: say where to");
    }
    if (namespace.isEmpty() || namespace.indexOf('/') >= 0) {
      throw new CliException(
          ExitCodes.USAGE, "NAMESPACE: is the first part of a lock's name, without \"/\"");
    }
    PrintWriter err = spec.commandLine().getErr();
    TableChanges changes = new TableChanges(new Ensembles(options));
    NamespaceMove move = new NamespaceMove(changes, namespace, err);
    ShardTable table =
        undo ? move.undo() : move.run(to.orElseThrow(), new NamespaceMove.Patience(time, force));
    String shard = table.place(namespace).orElseThrow().shard();
    int exitCode = changes.finish(table, Set.of(shard), err);
    if (exitCode == ExitCodes.OK) {
      spec.commandLine()
          .getOut()
          .println("namespace '" + Text.plain(namespace) + "' is served by shard '" + shard + "'");
    }
    return exitCode;
  }
}
