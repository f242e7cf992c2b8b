package io.lockkeeper.cli.server;

import io.lockkeeper.cli.shell.Logging;
import io.lockkeeper.server.app.ConfigException;
import io.lockkeeper.server.app.EffectiveSetting;
import io.lockkeeper.server.app.ServerConfig;
import io.lockkeeper.server.app.Setting;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a running server's settings again, takes those that can be taken, and logs what it took,
 * what needs a restart, and what is wrong. Settings that are wrong change nothing. For any thread.
 */
final class SettingsReload implements Runnable {

  private static final Logger log = LoggerFactory.getLogger(SettingsReload.class);

  private final Supplier<ServerConfig> settings;
  private final Supplier<List<String>> files;
  private final boolean fetchesKeys;
  private final Map<Setting, String> inForce = new EnumMap<>(Setting.class);

  /**
   * Makes one.
   *
   * @param current what the server was started with
   * @param settings reads the settings
   * @param files reads the files that they name, and returns what is wrong there
   */
  SettingsReload(
      ServerConfig current, Supplier<ServerConfig> settings, Supplier<List<String>> files) {
    this.settings = settings;
    this.files = files;
    this.fetchesKeys = current.security().jwt().flatMap(jwt -> jwt.keys().url()).isPresent();
    current.effective().forEach(setting -> inForce.put(setting.setting(), setting.value()));
  }

  @Override
  public synchronized void run() {
    try {
      take(settings.get());
    } catch (ConfigException e) {
      log.atError()
          .addKeyValue("error", e.getMessage())
          .log("the settings are wrong now, and those before stay in force");
    }
    List<String> problems = files.get();
    if (problems.isEmpty()) {
      log.atInfo().log(
          "the files that the settings name were read again, and are in force{}",
          fetchesKeys ? "; keys behind a URL are not: they keep their own pace" : "");
    } else {
      log.atError()
          .addKeyValue("problems", problems)
          .log("not all files that the settings name could be taken");
    }
  }

  private void take(ServerConfig next) {
    List<EffectiveSetting> changed =
        next.effective().stream()
            .filter(setting -> !setting.value().equals(inForce.get(setting.setting())))
            .toList();
    List<EffectiveSetting> taken = changed.stream().filter(SettingsReload::isTaken).toList();
    List<EffectiveSetting> left = changed.stream().filter(setting -> !isTaken(setting)).toList();
    // Under a level that is above INFO the line is not to be seen: then on the other side of the
    // change.
    boolean seenBefore = log.isInfoEnabled();
    if (seenBefore) {
      tell(taken);
    }
    if (!taken.isEmpty()) {
      Logging.change(next.logs());
      taken.forEach(setting -> inForce.put(setting.setting(), setting.value()));
    }
    if (!seenBefore) {
      tell(taken);
    }
    if (!left.isEmpty()) {
      log.atWarn()
          .addKeyValue("settings", left)
          .log("settings have changed that count from the next start on");
    }
  }

  private static void tell(List<EffectiveSetting> taken) {
    log.atInfo().addKeyValue("applied", taken).log("the settings were read again");
  }

  private static boolean isTaken(EffectiveSetting setting) {
    return setting.setting() == Setting.LOG_LEVEL;
  }
}
