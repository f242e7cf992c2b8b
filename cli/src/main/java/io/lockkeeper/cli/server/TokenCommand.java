package io.lockkeeper.cli.server;

import com.google.gson.JsonObject;
import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.server.security.StaticTokens;
import java.io.PrintWriter;
import java.security.SecureRandom;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Makes a static token. */
@Command(
    name = "token",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Makes a bearer token, and the line for the server's file of tokens (serve --tokens); \"token check\" asks about a"
          + " fencing token.",
      "",
      "The token is printed this once and is kept nowhere: the file has its digest only."
    })
public final class TokenCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Parameters(
      index = "0",
      arity = "0..1",
      defaultValue = "",
      paramLabel = "NAME",
      description = "Who will have it: rules of the policy call it token:NAME.")
  private String name;

  @Option(names = "--json", description = "One JSON object.")
  private boolean json;

  @Override
  public Integer call() {
    if (name.isEmpty()) {
      throw new ParameterException(spec.commandLine(), "Missing required parameter: 'NAME'");
    }
    StaticTokens.Fresh fresh;
    try {
      fresh = StaticTokens.make(name, new SecureRandom());
    } catch (IllegalArgumentException e) {
      throw new CliException(ExitCodes.USAGE, "NAME: " + e.getMessage(), e);
    }
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      JsonObject made = new JsonObject();
      made.addProperty("token", fresh.token());
      made.addProperty("line", fresh.line());
      out.println(made);
      out.flush();
      return ExitCodes.OK;
    }
    out.println("For the client, and for nobody else:");
    out.println();
    out.println("  " + fresh.token());
    out.println();
    out.println("For the server's file, below \"tokens:\":");
    out.println();
    out.println("  " + fresh.line());
    out.flush();
    return ExitCodes.OK;
  }
}
