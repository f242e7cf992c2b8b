package io.lockkeeper.cli.text;

import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Version;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints what a shell completes. */
@Command(
    name = "completion",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    description = {
      "Prints a script by which a shell completes commands and options.",
      "",
      "  bash   source <(lockkeeper completion bash)",
      "  zsh    source <(lockkeeper completion zsh)",
      "  fish   lockkeeper completion fish | source",
      ""
    })
public final class CompletionCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "bash|zsh|fish", description = "The shell.")
  private Shell shell;

  /** What completes. */
  enum Shell {
    /** GNU's. */
    BASH,
    /** The Z shell, by its emulation of bash's completion. */
    ZSH,
    /** The friendly one. */
    FISH
  }

  @Override
  public Integer call() {
    CommandLine program = spec.root().commandLine();
    PrintWriter out = spec.commandLine().getOut();
    out.print(
        switch (shell) {
          case BASH -> AutoComplete.bash(program.getCommandName(), program);
          // The script itself turns on bash's completion where it finds itself in zsh.
          case ZSH ->
              "autoload -Uz compinit && compinit\n"
                  + AutoComplete.bash(program.getCommandName(), program);
          case FISH -> FishCompletion.of(program);
        });
    out.flush();
    return ExitCodes.OK;
  }
}
