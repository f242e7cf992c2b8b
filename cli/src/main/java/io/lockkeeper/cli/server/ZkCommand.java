package io.lockkeeper.cli.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.server.app.ServerConfig;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Looks at single nodes in ZooKeeper, and deletes them: the last resort. */
@Command(
    name = "zk",
    description = {
      "Lists, shows or deletes a node in ZooKeeper, with the settings and the credentials of a coordinator. Asks no coordinator,"
          + " so it works when none does. The last resort: force-release, leases close and unfreeze tell those whom it concerns.",
      "",
      "Exit code 0: done; 1: there is no such node, or ZooKeeper refuses; 2: the command line is wrong, or the node is not to be"
          + " touched; 69: no server of the ensemble answers.",
      ""
    })
public final class ZkCommand extends EnsembleCommand {

  private static final Pattern SECRET =
      Pattern.compile("(\"lease\"\\s*:\\s*\"[0-9a-f]{16})[0-9a-f]{16}");

  /** What to do with a node. */
  enum Action {
    /** Lists the nodes below it. */
    LS,
    /** Shows what is in it. */
    GET,
    /** Deletes it. */
    DELETE
  }

  @Parameters(
      index = "0",
      paramLabel = "ls|get|delete",
      description = "What to do: list the nodes below it, show what is in it, or delete it.")
  private Action action = Action.LS;

  @Parameters(
      index = "1",
      paramLabel = "PATH",
      description = "The node's whole path, such as /lockkeeper/locks/NAME.")
  private String path = "";

  @Option(names = "--yes", description = "Delete without asking. [default: ask on standard input]")
  private boolean yes;

  @Option(
      names = "--force",
      description =
          "Show secrets, also below ROOT/sessions and ROOT/leases, and delete elsewhere than below --locks-path and ROOT/freezes."
              + " [default: refuse]")
  private boolean force;

  @Override
  public Integer call() {
    prepare();
    ServerConfig.ZooKeeper settings = config().zookeeper();
    check(settings);
    try (EnsembleClient client = EnsembleClient.connect(settings, settings.access())) {
      act(client.handle());
      return ExitCodes.OK;
    } catch (IOException e) {
      throw new CliException(
          ExitCodes.UNAVAILABLE, "no session at " + settings.connect() + ": " + e.getMessage(), e);
    } catch (KeeperException e) {
      throw new CliException(ExitCodes.FAILED, inWords(e), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return ExitCodes.FAILED;
    }
  }

  private void check(ServerConfig.ZooKeeper settings) {
    if (!path.matches("/|(/[^/]+)+")) {
      throw usage(
          "\"" + Text.plain(path) + "\" is not a whole path such as " + settings.locksPath());
    }
    if (force) {
      return;
    }
    boolean secret =
        List.of("/sessions", "/leases").stream()
            .map(settings.root()::concat)
            .anyMatch(parent -> path.equals(parent) || isBelow(parent));
    if (secret) {
      throw usage(
          path
              + " is for coordinators alone: to delete there frees or doubles locks; --force does it");
    }
    if (action == Action.DELETE
        && !isBelow(settings.locksPath())
        && !isBelow(settings.root() + "/freezes")) {
      throw usage(
          path + " is neither below " + settings.locksPath() + " nor a freeze; --force deletes it");
    }
  }

  private boolean isBelow(String parent) {
    return path.startsWith(parent + "/");
  }

  private static CliException usage(String why) {
    return new CliException(ExitCodes.USAGE, why);
  }

  private void act(ZooKeeper client) throws KeeperException, InterruptedException {
    switch (action) {
      case LS -> list(client);
      case GET -> {
        var unused = show(client);
      }
      case DELETE -> delete(client);
    }
  }

  private void list(ZooKeeper client) throws KeeperException, InterruptedException {
    PrintWriter out = spec.commandLine().getOut();
    client.getChildren(path, false).stream()
        .sorted()
        .forEach(name -> out.println(Text.plain(name)));
    out.flush();
  }

  private Stat show(ZooKeeper client) throws KeeperException, InterruptedException {
    PrintWriter out = spec.commandLine().getOut();
    Stat stat = new Stat();
    byte[] data = client.getData(path, false, stat);
    out.println(Text.plain(path));
    out.println("  made      " + Instant.ofEpochMilli(stat.getCtime()));
    out.println("  changed   " + Instant.ofEpochMilli(stat.getMtime()));
    out.println(
        "  session   "
            + (stat.getEphemeralOwner() == 0
                ? "none: it stays until it is deleted"
                : String.format("%016x", stat.getEphemeralOwner())));
    out.println("  children  " + stat.getNumChildren());
    out.println(
        "  data      "
            + Text.plain(withoutSecrets(new String(data == null ? new byte[0] : data, UTF_8))));
    out.flush();
    return stat;
  }

  /** Of a lease's name the first half is public; whoever has the whole acts under the lease. */
  private String withoutSecrets(String data) {
    return force ? data : SECRET.matcher(data).replaceAll("$1…");
  }

  /** What was shown is deleted, and not what somebody has written there since. */
  private void delete(ZooKeeper client) throws KeeperException, InterruptedException {
    Stat stat = show(client);
    if (stat.getNumChildren() > 0) {
      throw usage(path + " has nodes below it: delete these first, one by one");
    }
    if (!yes && !isConfirmed()) {
      throw usage("nothing is deleted: say yes, or give --yes");
    }
    client.delete(path, stat.getVersion());
    PrintWriter out = spec.commandLine().getOut();
    out.println("deleted");
    out.flush();
  }

  private boolean isConfirmed() {
    PrintWriter out = spec.commandLine().getOut();
    out.print("Delete it? [y/N] ");
    out.flush();
    try {
      // Not closed: it is the process's.
      BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
      String answer = in.readLine();
      return answer != null && answer.strip().toLowerCase(Locale.ROOT).matches("y|yes");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String inWords(KeeperException error) {
    return switch (error.code()) {
      case NONODE -> "there is no node " + path;
      case NOAUTH -> path + " is closed to us: give the coordinators' --zookeeper-credentials";
      case BADVERSION -> path + " was changed meanwhile: look again";
      case NOTEMPTY -> path + " has nodes below it by now: delete these first, one by one";
      default -> String.valueOf(error.getMessage());
    };
  }
}
