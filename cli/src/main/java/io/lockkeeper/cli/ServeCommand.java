package io.lockkeeper.cli;

import io.lockkeeper.server.app.LockkeeperServer;
import io.lockkeeper.server.app.Profile;
import io.lockkeeper.server.app.ServerConfig;
import picocli.CommandLine.Command;

/** Runs a coordinator. */
@Command(
    name = "serve",
    description = {
      "Runs a coordinator on a ZooKeeper ensemble, until TERM or Ctrl-C.",
      "While ZooKeeper is out of reach it keeps trying, and says NOT_SERVING on its health endpoints.",
      ""
    })
final class ServeCommand extends ServerCommand {

  ServeCommand() {
    super(Profile.SERVE);
  }

  @Override
  public Integer call() {
    ServerConfig config = config();
    Logging.level(config.logLevel());
    try (ServerRun run = new ServerRun();
        LockkeeperServer server = LockkeeperServer.start(config)) {
      return run.await(server);
    }
  }
}
