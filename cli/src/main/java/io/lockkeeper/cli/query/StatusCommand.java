package io.lockkeeper.cli.query;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.grpc.Channel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.Json;
import io.lockkeeper.cli.text.LockText;
import io.lockkeeper.cli.text.OutputOptions;
import io.lockkeeper.cli.text.Style;
import io.lockkeeper.cli.text.Table;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.v1.GetClusterRequest;
import io.lockkeeper.v1.GetClusterResponse;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.WhoAmIRequest;
import io.lockkeeper.v1.WhoAmIResponse;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Says whether the servers serve. */
@Command(
    name = "status",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Asks each server named by --server whether it serves, and one of them for the cluster: which servers there are, ZooKeeper,"
          + " how many leases' sessions, what is frozen.",
      "",
      "The cluster is shown to operators only: the right admin on all locks. \"lockkeeper cluster\" shows more of it."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:all servers named serve",
      "1:at least one does not",
      "2:the command line is wrong",
      "69:none answers"
    })
public final class StatusCommand implements Callable<Integer> {

  private static final long ANSWER_SECONDS = 5;

  @Spec private CommandSpec spec;

  @Mixin private OutputOptions output;
  @Mixin private ServerOptions options;

  /** What one server says of itself; the second is empty where it does not let us in. */
  private record Health(boolean serving, Optional<WhoAmIResponse> identity) {}

  @Override
  public Integer call() {
    options.prepare();
    Servers servers = new Servers(options);
    List<Servers.Answer<Health>> answers = servers.each(StatusCommand::ask);
    if (answers.stream().allMatch(answer -> answer.answer().isEmpty())) {
      throw new CliException(
          ExitCodes.UNAVAILABLE,
          servers.unavailable(
              answers.stream().map(one -> "  " + one.server() + ": " + one.failure()).toList()));
    }
    Optional<GetClusterResponse> cluster = cluster(servers);
    PrintWriter out = spec.commandLine().getOut();
    if (output.isJson()) {
      out.println(toJson(answers, cluster));
    } else {
      printServers(answers, out);
      cluster.ifPresent(one -> printCluster(one, out));
    }
    out.flush();
    return answers.stream().allMatch(StatusCommand::serves) ? ExitCodes.OK : ExitCodes.FAILED;
  }

  private static Health ask(Channel channel) {
    ServingStatus status =
        HealthGrpc.newBlockingStub(channel)
            .withDeadlineAfter(ANSWER_SECONDS, TimeUnit.SECONDS)
            .check(HealthCheckRequest.getDefaultInstance())
            .getStatus();
    return new Health(status == ServingStatus.SERVING, identity(channel));
  }

  private static Optional<WhoAmIResponse> identity(Channel channel) {
    try {
      return Optional.of(
          LockServiceGrpc.newBlockingStub(channel)
              .withDeadlineAfter(ANSWER_SECONDS, TimeUnit.SECONDS)
              .whoAmI(WhoAmIRequest.getDefaultInstance()));
    } catch (StatusRuntimeException e) {
      if (e.getStatus().getCode() == Status.Code.DEADLINE_EXCEEDED) {
        throw e;
      }
      return Optional.empty();
    }
  }

  private static Optional<GetClusterResponse> cluster(Servers servers) {
    try {
      return Optional.of(
          servers.admin(stub -> stub.getCluster(GetClusterRequest.getDefaultInstance())));
    } catch (CliException e) {
      return Optional.empty(); // We may not see it, or it cannot be told now.
    }
  }

  private static boolean serves(Servers.Answer<Health> one) {
    return one.answer().map(Health::serving).orElse(false);
  }

  private void printServers(List<Servers.Answer<Health>> answers, PrintWriter out) {
    Style style = output.style();
    Table table = new Table(style, "SERVER", "STATE", "VERSION", "COORDINATOR");
    for (Servers.Answer<Health> one : answers) {
      Optional<WhoAmIResponse> identity = one.answer().flatMap(Health::identity);
      table.row(
          Text.plain(one.server()),
          state(one),
          identity.map(me -> Text.plain(me.getVersion())).orElse(LockText.NONE),
          identity.map(me -> Text.plain(me.getCoordinatorId())).orElse(LockText.NONE));
    }
    table.print(out);
  }

  private static String state(Servers.Answer<Health> one) {
    if (one.answer().isEmpty()) {
      return "no answer: " + one.failure();
    }
    return serves(one) ? "serving" : "not serving";
  }

  private static void printCluster(GetClusterResponse cluster, PrintWriter out) {
    long serving = cluster.getCoordinatorsList().stream().filter(one -> one.getServing()).count();
    String connected = cluster.getEnsemble().getConnectedTo();
    out.println();
    out.println(
        "cluster    "
            + serving
            + " of "
            + cluster.getCoordinatorsCount()
            + (cluster.getCoordinatorsCount() == 1 ? " server serves" : " servers serve"));
    out.println(
        "ZooKeeper  "
            + (connected.isEmpty() ? "not connected" : "connected to " + Text.plain(connected))
            + (cluster.getMirrorCurrent()
                ? ""
                : "; its copy is being rebuilt, and nothing is granted"));
    out.println(
        "sessions   "
            + cluster.getSessionCount()
            + (cluster.getOrphanCount() == 0
                ? ""
                : ", " + cluster.getOrphanCount() + " of them orphaned"));
    cluster
        .getFrozenList()
        .forEach(
            one ->
                out.println(
                    "frozen     "
                        + LockText.prefix(one.getPrefix())
                        + ", "
                        + LockText.frozen(one)));
  }

  private static JsonObject toJson(
      List<Servers.Answer<Health>> answers, Optional<GetClusterResponse> cluster) {
    JsonArray servers = new JsonArray();
    for (Servers.Answer<Health> one : answers) {
      JsonObject server = new JsonObject();
      server.addProperty("server", one.server());
      server.addProperty("serving", serves(one));
      if (one.answer().isEmpty()) {
        server.addProperty("failure", one.failure());
      }
      one.answer()
          .flatMap(Health::identity)
          .ifPresent(
              me -> {
                server.addProperty("version", me.getVersion());
                server.addProperty("coordinatorId", me.getCoordinatorId());
              });
      servers.add(server);
    }
    JsonObject all = new JsonObject();
    all.add("servers", servers);
    cluster.ifPresent(one -> all.add("cluster", JsonParser.parseString(Json.line(one))));
    return all;
  }
}
