package io.lockkeeper.server.app;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Finds each setting's value: flag, then environment variable, then configuration file, then
 * default.
 */
final class SettingValues {

  private static final Pattern PORT_ALONE = Pattern.compile(":\\d+");

  private final Profile profile;
  private final Map<String, String> flags;
  private final Map<String, String> environment;
  private final Optional<Path> file;
  private final Map<Setting, String> fileValues;

  /**
   * Takes the sources and reads the configuration file, if one is named.
   *
   * @param flags what the command line gave, by key
   */
  SettingValues(
      Profile profile,
      Map<String, String> flags,
      Map<String, String> environment,
      Optional<Path> configFlag) {
    for (String key : flags.keySet()) {
      if (Setting.ofKey(key).isEmpty()) {
        throw new ConfigException(
            "unknown setting \"" + key + "\"" + Spelling.suggestion(key, Setting.keys()));
      }
    }
    this.profile = profile;
    this.flags = flags;
    this.environment = Variables.ours(environment);
    this.file =
        configFlag.or(
            () ->
                Optional.ofNullable(this.environment.get(Variables.CONFIG))
                    .filter(name -> !name.isEmpty())
                    .map(Path::of));
    this.fileValues = file.map(ConfigFile::read).orElse(Map.of());
  }

  /** Returns the value of a setting; a port alone is one of the host that the default names. */
  SettingValue get(Setting setting) {
    SettingValue given = given(setting);
    if (!PORT_ALONE.matcher(given.text()).matches()) {
      return given;
    }
    String byDefault = setting.defaultFor(profile);
    String host = byDefault.substring(0, Math.max(0, byDefault.lastIndexOf(':')));
    return new SettingValue(setting, host + given.text(), given.source());
  }

  private SettingValue given(Setting setting) {
    String flag = flags.get(setting.key());
    if (flag != null) {
      return new SettingValue(setting, flag, setting.flag());
    }
    String variable = environment.get(setting.variable());
    if (variable != null && !variable.isEmpty()) {
      return new SettingValue(setting, variable, setting.variable());
    }
    String inFile = fileValues.get(setting);
    if (inFile != null) {
      return new SettingValue(setting, inFile, file.orElseThrow() + ", " + setting.key());
    }
    return new SettingValue(setting, setting.defaultFor(profile), setting.flag());
  }

  /** Returns every setting that means anything, as it counts. */
  List<EffectiveSetting> effective() {
    return Arrays.stream(Setting.values())
        .filter(setting -> setting.appliesTo(profile))
        .map(
            setting -> {
              SettingValue value = get(setting);
              return new EffectiveSetting(
                  setting,
                  value.text(),
                  isGiven(setting) ? value.source() : EffectiveSetting.DEFAULT);
            })
        .toList();
  }

  private boolean isGiven(Setting setting) {
    return flags.containsKey(setting.key())
        || !environment.getOrDefault(setting.variable(), "").isEmpty()
        || fileValues.containsKey(setting);
  }
}
