package io.lockkeeper.cli;

import io.lockkeeper.cli.admin.CloseLeaseCommand;
import io.lockkeeper.cli.admin.DrainCommand;
import io.lockkeeper.cli.admin.ForceReleaseCommand;
import io.lockkeeper.cli.admin.FreezeCommand;
import io.lockkeeper.cli.admin.LimitCommand;
import io.lockkeeper.cli.admin.ReleaseRequestCommand;
import io.lockkeeper.cli.admin.UnfreezeCommand;
import io.lockkeeper.cli.query.ClusterCommand;
import io.lockkeeper.cli.query.LeasesCommand;
import io.lockkeeper.cli.query.LsCommand;
import io.lockkeeper.cli.query.ShowCommand;
import io.lockkeeper.cli.query.StatusCommand;
import io.lockkeeper.cli.query.TokenCheckCommand;
import io.lockkeeper.cli.query.TopCommand;
import io.lockkeeper.cli.query.TreeCommand;
import io.lockkeeper.cli.query.WatchCommand;
import io.lockkeeper.cli.query.WhoAmICommand;
import io.lockkeeper.cli.query.WhyCommand;
import io.lockkeeper.cli.run.BenchCommand;
import io.lockkeeper.cli.run.ElectCommand;
import io.lockkeeper.cli.run.HoldCommand;
import io.lockkeeper.cli.run.RunCommand;
import io.lockkeeper.cli.server.DevCommand;
import io.lockkeeper.cli.server.DoctorCommand;
import io.lockkeeper.cli.server.PolicyCommand;
import io.lockkeeper.cli.server.ServeCommand;
import io.lockkeeper.cli.server.ServerCommand;
import io.lockkeeper.cli.server.TokenCommand;
import io.lockkeeper.cli.server.ZkCommand;
import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.ForgottenDashes;
import io.lockkeeper.cli.shell.NameCache;
import io.lockkeeper.cli.shell.Terminal;
import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.cli.text.CompletionCommand;
import io.lockkeeper.server.app.ConfigException;
import io.lockkeeper.server.app.StartException;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** The one program. Alone it prints its usage; all that it does is in its subcommands. */
@Command(
    name = "lockkeeper",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    synopsisSubcommandLabel = "COMMAND",
    description = "A distributed lock coordinator: gRPC in front, Apache ZooKeeper behind.",
    footer = {
      "",
      "Each command has its own --help; without a command, this is printed, and the exit code is 2.",
      "",
      "Exit codes, where a command does not say more: 0, done; 1, it failed or was refused; 2, the command line or a setting is"
          + " wrong; 69, no server answers."
    })
public final class Main implements Callable<Integer> {

  /** What "leases close" was called; still there, and not shown. */
  private static final String CLOSE_LEASE = "close-lease";

  /** The commands, as the help groups them. */
  private static final Map<String, Map<String, Supplier<CommandLine>>> GROUPS = groups();

  @Spec private CommandSpec spec;

  private Main() {}

  private static Map<String, Map<String, Supplier<CommandLine>>> groups() {
    Map<String, Map<String, Supplier<CommandLine>>> groups = new LinkedHashMap<>();
    Map<String, Supplier<CommandLine>> hold = group(groups, "Hold locks:");
    hold.put("run", of(RunCommand.class));
    hold.put("hold", of(HoldCommand.class));
    hold.put("elect", of(ElectCommand.class));
    Map<String, Supplier<CommandLine>> look = group(groups, "Look at locks:");
    look.put("ls", of(LsCommand.class));
    look.put("tree", of(TreeCommand.class));
    look.put("show", of(ShowCommand.class));
    look.put("why", of(WhyCommand.class));
    look.put("top", of(TopCommand.class));
    look.put("watch", of(WatchCommand.class));
    look.put("leases", Main::leases);
    look.put("token", Main::token);
    Map<String, Supplier<CommandLine>> servers = group(groups, "Look at servers:");
    servers.put("status", of(StatusCommand.class));
    servers.put("cluster", of(ClusterCommand.class));
    servers.put("whoami", of(WhoAmICommand.class));
    servers.put("bench", of(BenchCommand.class));
    Map<String, Supplier<CommandLine>> operate = group(groups, "Operate:");
    operate.put("release-request", of(ReleaseRequestCommand.class));
    operate.put("force-release", of(ForceReleaseCommand.class));
    operate.put("limit", of(LimitCommand.class));
    operate.put("freeze", of(FreezeCommand.class));
    operate.put("unfreeze", of(UnfreezeCommand.class));
    operate.put("drain", of(DrainCommand.class));
    operate.put(CLOSE_LEASE, Main::oldCloseLease);
    Map<String, Supplier<CommandLine>> run = group(groups, "Run a server:");
    run.put("dev", () -> ServerCommand.commandLine(new DevCommand()));
    run.put("serve", () -> ServerCommand.commandLine(new ServeCommand()));
    run.put("doctor", () -> ServerCommand.commandLine(new DoctorCommand()));
    run.put("zk", () -> ServerCommand.commandLine(new ZkCommand()));
    run.put("policy", of(PolicyCommand.class));
    Map<String, Supplier<CommandLine>> other = group(groups, "Besides:");
    other.put("completion", of(CompletionCommand.class));
    other.put("help", of(HelpCommand.class));
    return groups;
  }

  private static Map<String, Supplier<CommandLine>> group(
      Map<String, Map<String, Supplier<CommandLine>>> groups, String title) {
    Map<String, Supplier<CommandLine>> group = new LinkedHashMap<>();
    groups.put(title, group);
    return group;
  }

  private static Supplier<CommandLine> of(Class<?> command) {
    return () -> new CommandLine(command);
  }

  private static CommandLine leases() {
    CommandLine leases = new CommandLine(LeasesCommand.class);
    return leases.addSubcommand("close", closeLease("close"));
  }

  private static CommandLine token() {
    CommandLine token = new CommandLine(TokenCommand.class);
    return token.addSubcommand("check", new TokenCheckCommand());
  }

  private static CommandLine oldCloseLease() {
    CommandLine old = closeLease(CLOSE_LEASE);
    old.getCommandSpec().usageMessage().hidden(true);
    return old;
  }

  private static CommandLine closeLease(String name) {
    return new CommandLine(CommandSpec.forAnnotatedObject(new CloseLeaseCommand()).name(name));
  }

  @Override
  public Integer call() {
    spec.commandLine().usage(spec.commandLine().getErr());
    return ExitCodes.USAGE;
  }

  /** Runs the command line and exits with its exit code. */
  public static void main(String[] args) {
    System.exit(run(args));
  }

  /** Runs the command line and returns its exit code. */
  static int run(String... args) {
    NameCache.shorten();
    CommandLine line = commandLineFor(args);
    int exitCode = line.execute(args);
    // Whoever reads us may have enough; a disk that is full is told.
    if (exitCode == ExitCodes.OK
        && Terminal.isOutputLost(line.getOut())
        && !Terminal.hasStandardOutputAReader()) {
      line.getErr().println("lockkeeper: standard output cannot be written");
      exitCode = ExitCodes.FAILED;
    }
    return exitCode;
  }

  /** Returns a command line for {@code args}. To create one command is much faster than all. */
  static CommandLine commandLineFor(String... args) {
    return GROUPS.values().stream()
        .filter(group -> args.length > 0 && group.containsKey(args[0]))
        .filter(group -> !group.containsKey("help"))
        .findFirst()
        .map(group -> with(Map.of(args[0], group.get(args[0]))))
        .orElseGet(Main::commandLine);
  }

  /** Returns the whole command line, ready to execute. */
  public static CommandLine commandLine() {
    Map<String, Supplier<CommandLine>> all = new LinkedHashMap<>();
    GROUPS.values().forEach(all::putAll);
    CommandLine line = with(all);
    line.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST_HEADING, help -> "");
    line.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST, Main::grouped);
    return line;
  }

  private static CommandLine with(Map<String, Supplier<CommandLine>> commands) {
    CommandLine line = new CommandLine(new Main());
    commands.forEach((name, command) -> line.addSubcommand(name, command.get()));
    return configured(line);
  }

  private static String grouped(Help help) {
    StringBuilder text = new StringBuilder();
    GROUPS.forEach(
        (title, group) -> {
          Map<String, Help> shown = new LinkedHashMap<>(help.subcommands());
          shown.keySet().retainAll(group.keySet());
          text.append('\n').append(title).append('\n').append(help.commandList(shown));
        });
    return text.toString();
  }

  /** Sets how a command line and its subcommands are read, and how their errors are said. */
  public static CommandLine configured(CommandLine line) {
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.setUsageHelpAutoWidth(true);
    line.setUsageHelpLongOptionsMaxWidth(32);
    line.setParameterExceptionHandler(Main::onBadUsage);
    line.setExecutionExceptionHandler(Main::onFailure);
    return line;
  }

  private static int onBadUsage(ParameterException error, String[] args) {
    CommandLine command = error.getCommandLine();
    PrintWriter err = command.getErr();
    Optional<String> hint = ForgottenDashes.hint(command, List.of(args));
    err.println("lockkeeper: " + hint.orElseGet(() -> inWords(error)));
    if (hint.isEmpty()) {
      UnmatchedArgumentException.printSuggestions(error, err);
    }
    err.println("See: " + command.getCommandSpec().qualifiedName() + " --help");
    return ExitCodes.USAGE;
  }

  private static String inWords(ParameterException error) {
    boolean isCommand =
        error instanceof UnmatchedArgumentException unmatched
            && !unmatched.isUnknownOption()
            && !error.getCommandLine().getSubcommands().isEmpty();
    return isCommand
        ? "there is no command \""
            + ((UnmatchedArgumentException) error).getUnmatched().get(0)
            + "\""
        : String.valueOf(error.getMessage());
  }

  private static int onFailure(Exception error, CommandLine command, ParseResult parsed)
      throws Exception {
    int exitCode;
    if (error instanceof CliException failure) {
      exitCode = failure.exitCode();
    } else if (error instanceof ConfigException) {
      exitCode = ExitCodes.USAGE;
    } else if (error instanceof StartException) {
      exitCode = ExitCodes.FAILED;
    } else {
      throw error; // a bug: the stack trace is what helps
    }
    command.getErr().println("lockkeeper: " + error.getMessage());
    return exitCode;
  }
}
