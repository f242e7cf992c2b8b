package io.lockkeeper.cli.query;

import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.OutputOptions;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.v1.CheckTokenRequest;
import io.lockkeeper.v1.CheckTokenResponse;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Asks whether a fencing token is that of a current holder. */
@Command(
    name = "check",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Asks whether a fencing token is that of a current holder of a lock.",
      "",
      "The answer was true at some moment after the question, by ZooKeeper's quorum. It may be over by the time it is read: what"
          + " the lock protects must still refuse tokens below the highest that it has seen."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:it is the token of a current holder",
      "1:a server refuses",
      "2:the command line is wrong",
      "3:it is not",
      "69:no server answers"
    })
public final class TokenCheckCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Parameters(index = "0", paramLabel = "LOCK", description = "The lock's name.")
  private String lock;

  @Parameters(
      index = "1",
      paramLabel = "TOKEN",
      converter = Token.class,
      description = "The fencing token, above zero.")
  private long token;

  @Mixin private OutputOptions output;
  @Mixin private ServerOptions options;

  /** Reads a token. */
  static final class Token implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      if (!text.matches("[0-9]{1,18}") || Long.parseLong(text) < 1) {
        throw new TypeConversionException("\"" + text + "\" is not a number above zero");
      }
      return Long.parseLong(text);
    }
  }

  @Override
  public Integer call() {
    options.prepare();
    CheckTokenRequest request =
        CheckTokenRequest.newBuilder().setName(lock).setFencingToken(token).build();
    CheckTokenResponse answer = new Servers(options).call(stub -> stub.checkToken(request));
    output.print(answer, spec.commandLine().getOut(), inWords(answer));
    return answer.getCurrent() ? ExitCodes.OK : ExitCodes.FREE;
  }

  private String inWords(CheckTokenResponse answer) {
    String name = Text.plain(lock);
    if (answer.getCurrent()) {
      return "token " + token + " holds " + name;
    }
    String held =
        answer.getCurrentTokensList().stream()
            .map(String::valueOf)
            .collect(Collectors.joining(", "));
    return "token "
        + token
        + " does not hold "
        + name
        + (held.isEmpty() ? ": nobody does" : ": it is held with " + held);
  }
}
