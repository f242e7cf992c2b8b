package io.lockkeeper.cli;

import io.lockkeeper.server.app.Profile;
import io.lockkeeper.server.app.ServerConfig;
import io.lockkeeper.server.app.Setting;
import java.io.PrintWriter;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.json.JsonMapper;

/** Looks whether an ensemble is fit for coordinators, and safe. */
@Command(
    name = "doctor",
    description = {
      "Looks whether a ZooKeeper ensemble is fit for coordinators with these settings, and safe. Changes nothing there.",
      "Exit code 0: all is well; 1: there are warnings; 2: something has failed.",
      ""
    })
final class DoctorCommand extends ServerCommand {

  private static final Set<Setting> SETTINGS =
      EnumSet.of(
          Setting.ZOOKEEPER,
          Setting.ROOT,
          Setting.LOCKS_PATH,
          Setting.LOCK_SESSION_TIMEOUT,
          Setting.MEMBER_SESSION_TIMEOUT,
          Setting.ZOOKEEPER_TICK_TIME,
          Setting.ZOOKEEPER_SYNC_LIMIT,
          Setting.ZOOKEEPER_CREDENTIALS,
          Setting.ZOOKEEPER_TLS,
          Setting.ZOOKEEPER_TLS_KEY_STORE,
          Setting.ZOOKEEPER_TLS_TRUST_STORE);

  private final JsonMapper mapper = JsonMapper.builder().build();
  private Finding.Level worst = Finding.Level.OK;

  @Option(names = "--json", description = "One JSON object for each finding, one to a line.")
  private boolean json;

  DoctorCommand() {
    super(Profile.SERVE);
  }

  @Override
  boolean takes(Setting setting) {
    return SETTINGS.contains(setting);
  }

  /** It serves nobody. */
  @Override
  Map<String, String> fixed() {
    return Map.of(Setting.LISTEN.key(), "127.0.0.1:0");
  }

  @Override
  public Integer call() {
    // ZooKeeper's client logs what the findings say anyway.
    Logging.level("OFF");
    ServerConfig.ZooKeeper settings = config().zookeeper();
    Consumer<Finding> tell = this::tell;
    new ServerChecks(settings, tell).run();
    new EnsembleChecks(settings, tell).run();
    return worst.exitCode();
  }

  private void tell(Finding finding) {
    PrintWriter out = spec.commandLine().getOut();
    if (finding.level().compareTo(worst) > 0) {
      worst = finding.level();
    }
    if (json) {
      out.println(mapper.writeValueAsString(finding));
    } else {
      out.printf(
          "%-4s  %s: %s%n",
          finding.level(), Text.plain(finding.subject()), Text.plain(finding.message()));
    }
    out.flush();
  }
}
