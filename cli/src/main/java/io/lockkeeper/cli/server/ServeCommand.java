package io.lockkeeper.cli.server;

import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Logging;
import io.lockkeeper.cli.text.Style;
import io.lockkeeper.cli.text.Table;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.server.app.EffectiveSetting;
import io.lockkeeper.server.app.LockkeeperServer;
import io.lockkeeper.server.app.Profile;
import io.lockkeeper.server.app.ServerConfig;
import io.lockkeeper.server.app.SettingsCheck;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs a coordinator. */
@Command(
    name = "serve",
    description = {
      "Runs a coordinator on a ZooKeeper ensemble, until TERM or Ctrl-C.",
      "While ZooKeeper is out of reach it keeps trying, and says NOT_SERVING on its health endpoints.",
      "On HUP it reads its settings and files again, takes log-level and what the files say, and logs what else has changed.",
      ""
    })
public final class ServeCommand extends ServerCommand {

  @Option(
      names = "--check",
      description =
          "Read all settings and the files that they name, say what is wrong with them, or what counts, and end: with 0 if all"
              + " is well, with 2 if not. Connects to nothing and listens nowhere.")
  private boolean check;

  /** Makes the command, without its flags. */
  public ServeCommand() {
    super(Profile.SERVE);
  }

  @Override
  public Integer call() {
    ServerConfig config = config();
    Logging.start(config.logs());
    if (check) {
      return check(config);
    }
    CompletableFuture<SettingsReload> onHangUp = new CompletableFuture<>();
    try (ServerRun run = new ServerRun(onHangUp);
        LockkeeperServer server = LockkeeperServer.start(config)) {
      onHangUp.complete(new SettingsReload(config, this::config, server::readFiles));
      return run.await(server.failure());
    }
  }

  private int check(ServerConfig config) {
    List<String> problems = SettingsCheck.problems(config);
    PrintWriter err = spec.commandLine().getErr();
    problems.forEach(problem -> err.println("lockkeeper: " + Text.plain(problem)));
    if (!problems.isEmpty()) {
      return ExitCodes.USAGE;
    }
    PrintWriter out = spec.commandLine().getOut();
    out.println("settings are good");
    Table table = new Table(Style.PLAIN, "SETTING", "VALUE", "FROM");
    for (EffectiveSetting setting : config.effective()) {
      table.row(setting.setting().key(), Text.plain(setting.value()), Text.plain(setting.source()));
    }
    table.printPart(out, 0);
    out.flush();
    return ExitCodes.OK;
  }
}
