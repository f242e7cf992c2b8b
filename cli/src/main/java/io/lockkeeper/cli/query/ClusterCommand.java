package io.lockkeeper.cli.query;

import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.LockText;
import io.lockkeeper.cli.text.OutputOptions;
import io.lockkeeper.cli.text.Table;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.v1.CoordinatorState;
import io.lockkeeper.v1.Frozen;
import io.lockkeeper.v1.GetClusterRequest;
import io.lockkeeper.v1.GetClusterResponse;
import io.lockkeeper.v1.LockSessionState;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Shows the servers, who serves what, and what is frozen. */
@Command(
    name = "cluster",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Shows the servers, the ZooKeeper sessions that leases live on, and what is frozen, as the server that answers sees it.",
      "",
      "LEASES and USED are known of that server's own sessions only."
    })
public final class ClusterCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Mixin private OutputOptions output;
  @Mixin private ServerOptions options;

  @Override
  public Integer call() {
    options.prepare();
    GetClusterResponse cluster =
        new Servers(options).admin(stub -> stub.getCluster(GetClusterRequest.getDefaultInstance()));
    output.print(cluster, spec.commandLine().getOut(), this::print);
    return ExitCodes.OK;
  }

  private void print(GetClusterResponse cluster, PrintWriter out) {
    out.println(
        "answered by "
            + Text.plain(cluster.getCoordinatorId())
            + ", version "
            + Text.plain(cluster.getVersion())
            + (cluster.getMirrorCurrent() ? "" : "; it cannot grant: its copy is being rebuilt"));
    String connected = cluster.getEnsemble().getConnectedTo();
    out.println(
        "ZooKeeper "
            + Text.plain(String.join(",", cluster.getEnsemble().getServersList()))
            + (connected.isEmpty()
                ? ", not connected"
                : ", connected to " + Text.plain(connected)));
    printCoordinators(cluster, out);
    printSessions(cluster, out);
    printFrozen(cluster, out);
  }

  private void printCoordinators(GetClusterResponse cluster, PrintWriter out) {
    Table coordinators = new Table(output.style(), "SERVER", "ADDRESS", "KNOWN FOR", "STATE");
    for (CoordinatorState one : cluster.getCoordinatorsList()) {
      coordinators.row(
          Text.plain(one.getCoordinatorId()),
          one.getAddress().isEmpty() ? LockText.NONE : Text.plain(one.getAddress()),
          one.hasKnownFor() ? Text.age(one.getKnownFor()) : LockText.NONE,
          state(one));
    }
    coordinators.printPart(out, 0);
  }

  private static String state(CoordinatorState one) {
    if (one.getDraining()) {
      return "drained";
    }
    return one.getServing() ? "serving" : "not serving";
  }

  private void printSessions(GetClusterResponse cluster, PrintWriter out) {
    Table sessions = new Table(output.style(), "SESSION", "SERVED BY", "EPOCH", "LEASES", "USED");
    for (LockSessionState one : cluster.getSessionsList()) {
      sessions.row(
          Text.plain(one.getSession()),
          one.getOrphaned() ? "nobody, after " + servedBy(one) : servedBy(one),
          Long.toString(one.getEpoch()),
          one.hasLeases() ? Integer.toString(one.getLeases()) : LockText.NONE,
          one.hasUsedPercent() ? one.getUsedPercent() + " %" : LockText.NONE);
    }
    sessions.printPart(out, cluster.getSessionCount() - cluster.getSessionsCount());
  }

  private static String servedBy(LockSessionState one) {
    return Text.plain(one.getCoordinatorId());
  }

  private void printFrozen(GetClusterResponse cluster, PrintWriter out) {
    Table frozen = new Table(output.style(), "FROZEN", "FOR", "THAWS IN", "BY", "REASON");
    for (Frozen one : cluster.getFrozenList()) {
      frozen.row(
          LockText.prefix(one.getPrefix()),
          Text.age(one.getFrozenFor()),
          one.hasThawsIn() ? Text.age(one.getThawsIn()) : "never",
          one.getFrozenBy().isEmpty() ? LockText.NONE : Text.plain(one.getFrozenBy()),
          Text.plain(one.getReason()));
    }
    frozen.printPart(out, 0);
  }
}
