package io.lockkeeper.cli.shell;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Notices a command that {@code --} should be before: its options would be taken for those of this
 * program.
 */
public final class ForgottenDashes {

  private static final String DASHES = "--";
  private static final Pattern PLAIN = Pattern.compile("[\\w@%+=:,./-]+");

  private ForgottenDashes() {}

  /**
   * Lets a command line pass where no option follows the command, or the dashes are there.
   *
   * @throws CliException else, with the command line that was meant
   */
  public static void check(CommandLine line) {
    hint(line, line.getParseResult().originalArgs())
        .ifPresent(
            hint -> {
              throw new CliException(ExitCodes.USAGE, hint);
            });
  }

  /**
   * Returns what to say where the dashes were forgotten; empty if they were not, or the command
   * line is not one that runs a command.
   *
   * @param args the command line as it was given, with the names of the commands before
   */
  public static Optional<String> hint(CommandLine line, List<String> args) {
    CommandSpec spec = line.getCommandSpec();
    boolean runs =
        spec.positionalParameters().stream().anyMatch(p -> p.paramLabel().equals("COMMAND"));
    if (!runs) {
      return Optional.empty();
    }
    int own = args.indexOf(spec.name()) + 1;
    int begin = beginOfCommand(spec, args, own);
    // The command may have dashes of its own.
    if (args.subList(own, begin).contains(DASHES)) {
      return Optional.empty();
    }
    boolean hasOptions = args.stream().skip(begin + 1L).anyMatch(arg -> arg.startsWith("-"));
    if (begin >= args.size() || !hasOptions) {
      return Optional.empty();
    }
    return Optional.of(
        "put \"--\" before the command, whose options are its own:\n  lockkeeper "
            + quoted(args.subList(0, begin))
            + " -- "
            + quoted(args.subList(begin, args.size())));
  }

  /** Returns where the second argument is that is no option: the command, behind the lock. */
  private static int beginOfCommand(CommandSpec spec, List<String> args, int from) {
    int names = 0;
    for (int i = from; i < args.size(); i++) {
      String arg = args.get(i);
      if (!arg.startsWith("-")) {
        if (++names == 2) {
          return i;
        }
      } else if (takesNext(spec, arg)) {
        i++;
      }
    }
    return args.size();
  }

  private static boolean takesNext(CommandSpec spec, String arg) {
    OptionSpec option = spec.findOption(arg);
    return option != null && option.arity().max() > 0;
  }

  private static String quoted(List<String> args) {
    return args.stream()
        .map(arg -> PLAIN.matcher(arg).matches() ? arg : "'" + arg.replace("'", "'\\''") + "'")
        .collect(Collectors.joining(" "));
  }
}
