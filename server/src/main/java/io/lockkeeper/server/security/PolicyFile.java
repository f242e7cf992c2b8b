package io.lockkeeper.server.security;

import io.lockkeeper.server.core.lock.LockName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reads a policy's file, strictly: what cannot be meant as it is written is an error. */
final class PolicyFile {

  private static final String IDENTITIES = "identities";
  private static final String ALL = "all";
  private static final int MAX_COUNT = 1_000_000_000;
  private static final Pattern NAME = Pattern.compile("[\\w.:/-][\\w .:/-]{0,99}");
  private static final Pattern DURATION = Pattern.compile("[0-9]{1,9}[smhd]");

  private final List<Rule> rules = new ArrayList<>();
  private final List<Policy.LimitsRule> limits = new ArrayList<>();
  private final Map<String, Integer> maxAcquisitions = new HashMap<>();

  private PolicyFile() {}

  /** Reads the content of a file. */
  static Policy parse(byte[] content) {
    YamlValue.Mapping root =
        YamlValue.parse(content).mapping("a policy", "rules", "limits", "namespaces");
    PolicyFile file = new PolicyFile();
    Set<String> names = new HashSet<>();
    root.required("rules").list("rules").forEach(value -> file.addRule(value, names));
    elements(root, "limits").forEach(file::addLimits);
    elements(root, "namespaces").forEach(file::addNamespaces);
    return new Policy(file.rules, file.limits, file.maxAcquisitions);
  }

  private static List<YamlValue> elements(YamlValue.Mapping root, String key) {
    Optional<YamlValue> value = root.get(key);
    return value.isPresent() ? value.get().list(key) : List.of();
  }

  private void addRule(YamlValue value, Set<String> names) {
    int number = rules.size() + 1;
    YamlValue.Mapping unnamed =
        value.mapping("rule " + number, "name", IDENTITIES, "locks", "rights");
    Optional<String> name = unnamed.get("name").map(text -> name(text, unnamed.at("name")));
    if (name.isPresent() && !names.add(name.get())) {
      throw unnamed.required("name").error(unnamed.what() + ": another rule has that name");
    }
    YamlValue.Mapping rule =
        new YamlValue.Mapping(
            value,
            unnamed.what() + name.map(text -> " (" + text + ")").orElse(""),
            unnamed.members());
    rules.add(
        new Rule(
            number,
            name,
            parsed(rule, IDENTITIES, IdentityPattern::new),
            parsed(rule, "locks", LockPattern::parse),
            rights(rule)));
  }

  private static String name(YamlValue value, String what) {
    String name = value.text(what);
    if (!NAME.matcher(name).matches()) {
      throw value.error(
          what + ": a name has up to 100 letters, digits, spaces, and of the signs _ - . : /");
    }
    return name;
  }

  private static Set<Right> rights(YamlValue.Mapping rule) {
    List<YamlValue> values = rule.texts("rights");
    Set<Right> rights = EnumSet.noneOf(Right.class);
    for (YamlValue value : values) {
      String key = value.text(rule.at("rights"));
      Optional<Right> right = Right.ofKey(key);
      if (key.equals(ALL)) {
        if (values.size() > 1) {
          throw value.error(rule.at("rights") + ": all stands alone");
        }
        return EnumSet.allOf(Right.class);
      }
      rights.add(
          right.orElseThrow(
              () ->
                  value.error(
                      rule.at("rights")
                          + ": \""
                          + key
                          + "\" is no right; allowed are "
                          + rightKeys())));
    }
    return rights;
  }

  private static String rightKeys() {
    return Stream.concat(Stream.of(Right.values()).map(Right::key), Stream.of(ALL))
        .collect(Collectors.joining(", "));
  }

  private void addLimits(YamlValue value) {
    List<String> keys = new ArrayList<>(List.of(IDENTITIES));
    for (LimitKey limit : LimitKey.values()) {
      keys.add(limit.key());
    }
    YamlValue.Mapping entry =
        value.mapping("limits " + (limits.size() + 1), keys.toArray(String[]::new));
    Limits own = Limits.DEFAULTS;
    for (LimitKey limit : LimitKey.values()) {
      own = own.with(limit, read(entry, limit));
    }
    limits.add(new Policy.LimitsRule(parsed(entry, IDENTITIES, IdentityPattern::new), own));
  }

  private static long read(YamlValue.Mapping entry, LimitKey limit) {
    long byDefault = Limits.DEFAULTS.get(limit);
    return limit.isDuration()
        ? seconds(entry, limit, byDefault)
        : entry.count(limit.key(), limit.min(), limit.max(), byDefault);
  }

  private static long seconds(YamlValue.Mapping entry, LimitKey limit, long byDefault) {
    Optional<YamlValue> value = entry.get(limit.key());
    if (value.isEmpty()) {
      return byDefault;
    }
    String text = value.get().text(entry.at(limit.key()));
    if (DURATION.matcher(text).matches()) {
      // ISO 8601 has a T before all units but days.
      long seconds = Duration.parse((text.endsWith("d") ? "P" : "PT") + text).toSeconds();
      if (seconds >= limit.min() && seconds <= limit.max()) {
        return seconds;
      }
    }
    throw value
        .get()
        .error(
            entry.at(limit.key())
                + " must be a whole number and s, m, h or d, from "
                + limit.format(limit.min())
                + " to "
                + limit.format(limit.max()));
  }

  private void addNamespaces(YamlValue value) {
    YamlValue.Mapping entry = value.mapping("namespaces", "names", "acquisitions");
    entry.required("acquisitions");
    int acquisitions = (int) entry.count("acquisitions", 1, MAX_COUNT, Integer.MAX_VALUE);
    for (YamlValue each : entry.texts("names")) {
      String namespace = each.text(entry.at("names"));
      if (namespace.indexOf('/') >= 0
          || namespace.indexOf('*') >= 0
          || LockName.problemOf(namespace).isPresent()) {
        throw each.error(
            entry.at("names")
                + ": \""
                + namespace
                + "\" is not the first part of a lock's name, without / and *");
      }
      if (maxAcquisitions.put(namespace, acquisitions) != null) {
        throw each.error(entry.at("names") + ": \"" + namespace + "\" a second time");
      }
    }
  }

  private static <T> List<T> parsed(
      YamlValue.Mapping entry, String key, Function<String, T> parser) {
    List<T> parsed = new ArrayList<>();
    for (YamlValue value : entry.texts(key)) {
      try {
        parsed.add(parser.apply(value.text(entry.at(key))));
      } catch (IllegalArgumentException e) {
        throw value.error(entry.at(key) + ": " + e.getMessage());
      }
    }
    return parsed;
  }
}
