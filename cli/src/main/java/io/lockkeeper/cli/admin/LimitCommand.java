package io.lockkeeper.cli.admin;

import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.OutputOptions;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.v1.ConfigureLockRequest;
import io.lockkeeper.v1.ConfigureLockResponse;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Sets the limit of a lock of permits. */
@Command(
    name = "limit",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Sets how many permits a lock has, while it is in use or before, or takes that setting back.",
      "",
      "A higher limit lets waiters in at once. A lower one waits for releases and takes nothing away; who waits for more than"
          + " there are is refused."
    })
public final class LimitCommand implements Callable<Integer> {

  private static final int MAX_LIMIT = 1_000_000;

  @Spec private CommandSpec spec;

  @Parameters(index = "0", paramLabel = "LOCK", description = "The lock's name.")
  private String lock;

  @Parameters(
      index = "1",
      paramLabel = "COUNT|none",
      converter = Count.class,
      description = "How many permits, 1 to 1000000; none: as requests name it.")
  private int limit;

  @Mixin private OutputOptions output;
  @Mixin private ServerOptions options;

  /** Reads a limit; zero is none. */
  public static final class Count implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      if (text.equals("none")) {
        return 0;
      }
      boolean plausible = text.matches("[0-9]{1,7}");
      int count = plausible ? Integer.parseInt(text) : 0;
      if (count < 1 || count > MAX_LIMIT) {
        throw new TypeConversionException(
            "\"" + text + "\" is not a limit: write 1 to 1000000, or none");
      }
      return count;
    }
  }

  @Override
  public Integer call() {
    options.prepare();
    ConfigureLockRequest request =
        ConfigureLockRequest.newBuilder().setName(lock).setLimit(limit).build();
    ConfigureLockResponse response = new Servers(options).call(stub -> stub.configureLock(request));
    int before = response.getPreviousLimit();
    PrintWriter out = spec.commandLine().getOut();
    output.print(
        response,
        out,
        Text.plain(lock)
            + (limit == 0 ? " has the limit that requests name" : " has a limit of " + limit)
            + (before == 0 ? "" : " (before: " + before + ")"));
    return ExitCodes.OK;
  }
}
