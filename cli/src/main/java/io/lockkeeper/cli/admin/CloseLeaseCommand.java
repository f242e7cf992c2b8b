package io.lockkeeper.cli.admin;

import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.OutputOptions;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.v1.AdminServiceCloseLeaseRequest;
import io.lockkeeper.v1.AdminServiceCloseLeaseResponse;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Closes somebody's lease. */
@Command(
    name = "close-lease",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Closes a lease with everything acquired under it, whosever it is and whichever server serves it.",
      "",
      "Its client is told that what it holds is lost. One that hears nothing, or does not listen, may go on using what the locks"
          + " protect: the fencing tokens are what protects then."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:it is closed, or was before",
      "1:no server serves such a lease",
      "2:the command line is wrong",
      "69:no server answers, or it is not certain yet: try again"
    })
public final class CloseLeaseCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Parameters(
      paramLabel = "LEASE",
      description =
          "The lease's id, or its tag: what \"lockkeeper show\" has under LEASE, before the slash.")
  private String lease;

  @Option(
      names = "--reason",
      paramLabel = "TEXT",
      required = true,
      description = "Why, for its client to read, up to 1 KiB.")
  private String reason;

  @Mixin private OutputOptions output;
  @Mixin private ServerOptions options;

  @Override
  public Integer call() {
    options.prepare();
    AdminServiceCloseLeaseRequest request =
        AdminServiceCloseLeaseRequest.newBuilder().setLease(lease).setReason(reason).build();
    AdminServiceCloseLeaseResponse response =
        new Servers(options).admin(stub -> stub.closeLease(request));
    PrintWriter out = spec.commandLine().getOut();
    output.print(
        response,
        out,
        "lease "
            + Text.plain(lease)
            + (response.getAlreadyEnded() ? " had ended before" : " is closed"));
    return ExitCodes.OK;
  }
}
