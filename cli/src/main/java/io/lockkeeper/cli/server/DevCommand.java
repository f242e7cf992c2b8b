package io.lockkeeper.cli.server;

import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Logging;
import io.lockkeeper.server.app.EmbeddedZooKeeper;
import io.lockkeeper.server.app.LockkeeperServer;
import io.lockkeeper.server.app.Profile;
import io.lockkeeper.server.app.ServerConfig;
import io.lockkeeper.server.security.tls.TlsPaths;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CancellationException;
import picocli.CommandLine.Command;

/** Runs a coordinator with its own ZooKeeper. */
@Command(
    name = "dev",
    description = {
      "Runs a coordinator with an embedded ZooKeeper, for development on one machine, until TERM or Ctrl-C.",
      "Locks, leases and tokens are on disk in --data-dir; ZooKeeper listens on 127.0.0.1 only.",
      ""
    })
public final class DevCommand extends ServerCommand {

  private static final Duration READY_LIMIT = Duration.ofSeconds(20);

  /** Where clients look that are told nothing else. */
  private static final String DEFAULT_SERVER = "localhost:7420";

  /** Hosts at which a server of this machine listens. */
  private static final Set<String> LOCAL = Set.of("0.0.0.0", "127.0.0.1", "::");

  /** Makes the command, without its flags. */
  public DevCommand() {
    super(Profile.DEV);
  }

  @Override
  public Integer call() {
    ServerConfig config = config();
    Logging.start(config.logs());
    ServerConfig.ZooKeeper settings = config.zookeeper();
    try (ServerRun run = new ServerRun();
        EmbeddedZooKeeper zookeeper =
            EmbeddedZooKeeper.start(
                config.dataDir().orElseThrow(),
                settings.embeddedPort(),
                settings.tickTime(),
                settings.lockSessionTimeout().multipliedBy(2),
                run.end(),
                () -> run.fail("the embedded ZooKeeper has died; its last words are in the log"));
        LockkeeperServer server =
            LockkeeperServer.start(config.withZooKeeperConnect(zookeeper.connectString()))) {
      // Not on this thread, which waits for signals.
      Thread welcome =
          new Thread(
              () -> {
                if (server.awaitServing(READY_LIMIT)) {
                  welcome(config, zookeeper, server, spec.commandLine().getOut());
                }
              },
              "welcome");
      welcome.setDaemon(true);
      welcome.start();
      return run.await(server.failure());
    } catch (CancellationException stoppedAtStart) {
      return ExitCodes.OK;
    }
  }

  private static void welcome(
      ServerConfig config, EmbeddedZooKeeper zookeeper, LockkeeperServer server, PrintWriter out) {
    String grpc = reachable(config.listen().host()) + ":" + server.grpcPort();
    boolean isTls = config.tls().isPresent();
    boolean byCertificate = config.tls().flatMap(TlsPaths::clientCa).isPresent();
    boolean byToken = !byCertificate && config.security().identifiesByToken();
    String protection =
        (isTls ? " --ca FILE" : "")
            + (byCertificate ? " --cert FILE --key FILE" : "")
            + (byToken ? " --token-file FILE" : "");
    String options = (grpc.equals(DEFAULT_SERVER) ? "" : " --server " + grpc) + protection;
    out.printf(
        """

        Lockkeeper is ready, for development: %s, one ZooKeeper of its own.

          gRPC       %s
          HTTP       http://%s:%d/%s
          ZooKeeper  %s, data in %s

        Try, in another terminal:

          grpcurl %s -d '{"locks":[{"name":"orders/42"}]}' %s lockkeeper.v1.LockService/Acquire
          %s run orders/42%s -- sleep 30
          %s show orders/42%s
          %s watch%s

        Ctrl-C stops it.

        """,
        isTls ? "TLS" : "plaintext",
        grpc,
        reachable(config.http().host()),
        server.httpPort(),
        config.pages().map(pages -> ", web page https://" + pages + "/").orElse(""),
        zookeeper.connectString(),
        config.dataDir().orElseThrow().toAbsolutePath().normalize(),
        (isTls ? "-cacert FILE" : "-plaintext")
            + (byCertificate ? " -cert FILE -key FILE" : "")
            + (byToken ? " -H 'authorization: Bearer TOKEN'" : ""),
        grpc,
        program(),
        options,
        program(),
        options,
        program(),
        options);
    out.flush();
  }

  /** Returns how this program was started, so that the line can be pasted. */
  private static String program() {
    String path = System.getProperty("java.class.path", "");
    String jar =
        path.endsWith(".jar") && path.indexOf(':') < 0 ? "java -jar " + path : "lockkeeper";
    return System.getProperty("lockkeeper.program", jar); // which the launcher sets
  }

  private static String reachable(String host) {
    return LOCAL.contains(host) ? "localhost" : host.indexOf(':') >= 0 ? "[" + host + "]" : host;
  }
}
