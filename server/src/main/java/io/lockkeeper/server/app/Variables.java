package io.lockkeeper.server.app;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The environment variables that begin as ours do. One that nobody reads is a misspelling, and so
 * refused; but not what Kubernetes puts there for a Service whose name begins with {@code
 * lockkeeper}, and what our other programs read.
 */
final class Variables {

  /** The environment variable that names the configuration file. */
  static final String CONFIG = "LOCKKEEPER_CONFIG";

  private static final String PREFIX = "LOCKKEEPER_";

  /** Of the commands, of what they run, and of the script that starts the program. */
  private static final Set<String> OTHERS =
      Set.of(
          CONFIG,
          "LOCKKEEPER_SERVER",
          "LOCKKEEPER_AUTH_TOKEN",
          "LOCKKEEPER_LOCK",
          "LOCKKEEPER_TOKEN",
          "LOCKKEEPER_LOCK_TOKENS",
          "LOCKKEEPER_JAR",
          "LOCKKEEPER_JAVA_OPTS");

  private static final String NAME = "LOCKKEEPER(_[A-Z0-9_]+)?";
  private static final String URL = "(tcp|udp|sctp)://\\S+:\\d{1,5}";

  /** What Kubernetes says of a Service: the name of the variable, and what its value is like. */
  private static final Map<Pattern, Pattern> KUBERNETES =
      Map.of(
          Pattern.compile(NAME + "_SERVICE_HOST"), Pattern.compile("[0-9a-fA-F.:]{2,45}"),
          Pattern.compile(NAME + "_SERVICE_PORT(_[A-Z0-9_]+)?"), Pattern.compile("\\d{1,5}"),
          Pattern.compile(NAME + "_PORT(_\\d{1,5}_(TCP|UDP|SCTP))?"), Pattern.compile(URL),
          Pattern.compile(NAME + "_PORT_\\d{1,5}_(TCP|UDP|SCTP)_PROTO"),
              Pattern.compile("tcp|udp|sctp"),
          Pattern.compile(NAME + "_PORT_\\d{1,5}_(TCP|UDP|SCTP)_PORT"), Pattern.compile("\\d{1,5}"),
          Pattern.compile(NAME + "_PORT_\\d{1,5}_(TCP|UDP|SCTP)_ADDR"),
              Pattern.compile("[0-9a-fA-F.:]{2,45}"));

  private Variables() {}

  /**
   * Returns those that are meant for us.
   *
   * @throws ConfigException if one begins as ours do and is none
   */
  static Map<String, String> ours(Map<String, String> environment) {
    List<String> settings = Arrays.stream(Setting.values()).map(Setting::variable).toList();
    Map<String, String> ours =
        environment.entrySet().stream()
            .filter(variable -> variable.getKey().startsWith(PREFIX))
            .filter(variable -> !isOfKubernetes(variable.getKey(), variable.getValue()))
            .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    for (String name : ours.keySet()) {
      if (!settings.contains(name) && !OTHERS.contains(name)) {
        throw new ConfigException(
            "unknown environment variable "
                + name
                + Spelling.suggestion(
                    name, Stream.concat(settings.stream(), OTHERS.stream()).toList()));
      }
    }
    return ours;
  }

  /**
   * One such as {@code LOCKKEEPER_ZOOKEEPER_PORT} may be a setting, or a Service's: the value says.
   */
  private static boolean isOfKubernetes(String name, String value) {
    return KUBERNETES.entrySet().stream()
        .anyMatch(
            known ->
                known.getKey().matcher(name).matches()
                    && known.getValue().matcher(value).matches());
  }
}
