package io.lockkeeper.cli.server;

import io.lockkeeper.cli.text.Text;
import io.lockkeeper.server.app.ServerConfig;
import java.io.PrintWriter;
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
public final class DoctorCommand extends EnsembleCommand {

  private final JsonMapper mapper = JsonMapper.builder().build();
  private Finding.Level worst = Finding.Level.OK;

  @Option(names = "--json", description = "One JSON object for each finding, one to a line.")
  private boolean json;

  @Override
  public Integer call() {
    prepare();
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
