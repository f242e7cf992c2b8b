package io.lockkeeper.cli.server;

import io.lockkeeper.cli.shell.Version;
import io.lockkeeper.server.app.Profile;
import io.lockkeeper.server.app.ServerConfig;
import io.lockkeeper.server.app.Setting;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * A command that runs a server: its flags are the server's settings, each with its default and its
 * variable.
 */
@Command(mixinStandardHelpOptions = true, versionProvider = Version.class, sortOptions = false)
public abstract class ServerCommand implements Callable<Integer> {

  @Spec CommandSpec spec;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = {
        "A YAML file of settings, named like these flags without the dashes. A flag wins over a variable, a variable over"
            + " the file.",
        "[env LOCKKEEPER_CONFIG]"
      })
  private Optional<Path> configFile = Optional.empty();

  private final Profile profile;

  ServerCommand(Profile profile) {
    this.profile = profile;
  }

  /** Returns a command with a flag for each setting. */
  public static CommandLine commandLine(ServerCommand command) {
    CommandSpec spec = CommandSpec.forAnnotatedObject(command);
    for (Setting setting : Setting.values()) {
      if (command.takes(setting)) {
        spec.addOption(option(setting, command.profile));
      }
    }
    return new CommandLine(spec);
  }

  private static OptionSpec option(Setting setting, Profile profile) {
    String byDefault = setting.defaultFor(profile);
    OptionSpec.Builder option = OptionSpec.builder(setting.flag()).type(String.class);
    if (setting.isSwitch()) {
      option.arity("0..1").fallbackValue("true");
    }
    return option
        .paramLabel(setting.placeholder())
        .description(
            setting.description(),
            "["
                + (byDefault.isEmpty() ? "" : "default " + byDefault + ", ")
                + "env "
                + setting.variable()
                + "]")
        .build();
  }

  /** Returns whether there is a flag for a setting. */
  boolean takes(Setting setting) {
    return setting.appliesTo(profile);
  }

  /** Returns the configuration that flags, environment and file give. */
  final ServerConfig config() {
    Map<String, String> flags = new HashMap<>();
    for (Setting setting : Setting.values()) {
      OptionSpec option = spec.findOption(setting.flag());
      if (option != null && option.getValue() instanceof String value) {
        flags.put(setting.key(), value);
      }
    }
    flags.putAll(fixed());
    return ServerConfig.load(profile, flags, System.getenv(), configFile);
  }

  /** Returns what is set whatever the user says, by key. */
  Map<String, String> fixed() {
    return Map.of();
  }
}
