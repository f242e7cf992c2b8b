package io.lockkeeper.cli.admin;

import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.LockText;
import io.lockkeeper.cli.text.OutputOptions;
import io.lockkeeper.v1.UnfreezeRequest;
import io.lockkeeper.v1.UnfreezeResponse;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Allows grants under a prefix again. */
@Command(
    name = "unfreeze",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Allows grants under a prefix again, except where another frozen prefix covers a lock.",
      "",
      "\"lockkeeper cluster\" lists what is frozen."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:it is done",
      "1:the prefix is not frozen",
      "2:the command line is wrong",
      "69:no server answers, or it is not certain yet: try again"
    })
public final class UnfreezeCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "PREFIX", description = "The prefix, just as it was frozen.")
  private String prefix;

  @Mixin private OutputOptions output;
  @Mixin private ServerOptions options;

  @Override
  public Integer call() {
    options.prepare();
    UnfreezeRequest request = UnfreezeRequest.newBuilder().setPrefix(prefix).build();
    UnfreezeResponse response = new Servers(options).admin(stub -> stub.unfreeze(request));
    PrintWriter out = spec.commandLine().getOut();
    output.print(response, out, LockText.prefix(prefix) + " thawed");
    return ExitCodes.OK;
  }
}
