package io.lockkeeper.cli.query;

import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.OutputOptions;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.v1.CallerLimits;
import io.lockkeeper.v1.WhoAmIRequest;
import io.lockkeeper.v1.WhoAmIResponse;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Says as whom the server takes us. */
@Command(
    name = "whoami",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Says as whom the server takes you, what you may do, and how much of it.",
      "",
      "The rights are those on all locks, on all whose names begin with PREFIX, or on the one named by --lock."
    })
public final class WhoAmICommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "PREFIX",
      defaultValue = "",
      description = "The rights on all locks whose names begin with this. [default: on all locks]")
  private String prefix;

  @Option(
      names = "--lock",
      paramLabel = "LOCK",
      defaultValue = "",
      description = "The rights on this lock instead. [default: on all under PREFIX]")
  private String lock;

  @Mixin private OutputOptions output;
  @Mixin private ServerOptions options;

  @Override
  public Integer call() {
    options.prepare();
    WhoAmIRequest request = WhoAmIRequest.newBuilder().setPrefix(prefix).setName(lock).build();
    WhoAmIResponse me = new Servers(options).call(stub -> stub.whoAmI(request));
    output.print(me, spec.commandLine().getOut(), this::print);
    return ExitCodes.OK;
  }

  private void print(WhoAmIResponse me, PrintWriter out) {
    out.println(output.style().bold(Text.plain(me.getIdentity())) + proof(me));
    if (me.getNamesCount() > 1) {
      out.println("  all names   " + Text.plain(String.join(", ", me.getNamesList())));
    }
    out.println("  address     " + Text.plain(me.getAddress()));
    out.println(
        "  rights      "
            + (me.getRightsCount() == 0
                ? "none"
                : Text.plain(String.join(", ", me.getRightsList())))
            + scope());
    CallerLimits limits = me.getLimits();
    out.println(
        "  limits      "
            + limits.getLeases()
            + " leases, "
            + limits.getAcquisitions()
            + " acquisitions, "
            + limits.getStreams()
            + " streams, "
            + limits.getWatches()
            + " watches, "
            + limits.getRequestsPerSecond()
            + " requests a second");
    out.println(
        "              "
            + limits.getEntryBytes()
            + " bytes of entries, "
            + limits.getPathBytes()
            + " bytes of paths, "
            + limits.getFreezes()
            + " freezes"
            + (limits.getQueuePlaces() < Integer.MAX_VALUE
                ? ", " + limits.getQueuePlaces() + " entries per queue that is half full"
                : ""));
    out.println(
        "              TTL up to "
            + Text.age(limits.getMaxTtl())
            + ", waits up to "
            + Text.age(limits.getMaxWait())
            + ", lock delays up to "
            + Text.age(limits.getMaxLockDelay())
            + ", metadata up to "
            + limits.getMetadataBytes()
            + " bytes");
    out.println(
        "  answered by "
            + Text.plain(me.getCoordinatorId())
            + ", version "
            + Text.plain(me.getVersion()));
  }

  private String scope() {
    if (!lock.isEmpty()) {
      return " (on " + Text.plain(lock) + ")";
    }
    return prefix.isEmpty()
        ? " (on all locks)"
        : " (on all locks under " + Text.plain(prefix) + ")";
  }

  private static String proof(WhoAmIResponse me) {
    return switch (me.getCredential()) {
      case CREDENTIAL_KIND_NONE -> ", who has shown no certificate and no token";
      case CREDENTIAL_KIND_CERTIFICATE -> ", by a client certificate";
      case CREDENTIAL_KIND_STATIC_TOKEN -> ", by a static token";
      case CREDENTIAL_KIND_JWT -> ", by a JWT";
      case CREDENTIAL_KIND_UNSPECIFIED, UNRECOGNIZED -> "";
    };
  }
}
