package io.lockkeeper.server.app;

import io.lockkeeper.server.security.AuditLog;
import io.lockkeeper.server.security.JwtTokens;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Who is known by a token, what he may do, and where it is recorded, as the settings say it. {@link
 * Security#open} makes it work.
 *
 * @param policy the file of the policy; empty: everybody may do everything
 * @param tokens the file of static tokens; empty: none are taken
 * @param jwt which JWTs are taken; empty: none
 * @param audit where the audit goes; empty: nowhere
 */
public record SecurityConfig(
    Optional<Path> policy,
    Optional<Path> tokens,
    Optional<Jwt> jwt,
    Optional<AuditLog.Target> audit) {

  private static final String STANDARD_OUTPUT = "-";

  /**
   * Which JWTs are taken.
   *
   * @param terms what they must say
   * @param keys where the issuer's keys are
   */
  public record Jwt(JwtTokens.Terms terms, Keys keys) {}

  /**
   * Where keys are: exactly one of the two.
   *
   * @param file a file
   * @param url a URL
   */
  public record Keys(Optional<Path> file, Optional<URL> url) {}

  /** Returns what the settings say. */
  static SecurityConfig of(SettingValues values) {
    return new SecurityConfig(
        values.get(Setting.POLICY).readableFile(),
        values.get(Setting.TOKENS).readableFile(),
        jwt(values),
        audit(values));
  }

  /** Returns whether a client can show who it is by a bearer token. */
  public boolean identifiesByToken() {
    return tokens.isPresent() || jwt.isPresent();
  }

  private static Optional<Jwt> jwt(SettingValues values) {
    SettingValue issuer = values.get(Setting.JWT_ISSUER);
    SettingValue audience = values.get(Setting.JWT_AUDIENCE);
    SettingValue keys = values.get(Setting.JWT_JWKS);
    Duration skew =
        values.get(Setting.JWT_CLOCK_SKEW).duration(Duration.ZERO, Duration.ofMinutes(5));
    List<SettingValue> together = List.of(issuer, audience, keys);
    if (together.stream().allMatch(SettingValue::isEmpty)) {
      return Optional.empty();
    }
    for (SettingValue value : together) {
      if (value.isEmpty()) {
        throw value.error("JWTs need --jwt-issuer, --jwt-audience and --jwt-jwks");
      }
    }
    return Optional.of(
        new Jwt(new JwtTokens.Terms(issuer.text(), audience.text(), skew), keys(keys)));
  }

  private static Keys keys(SettingValue value) {
    String lower = value.text().toLowerCase(Locale.ROOT);
    if (!lower.startsWith("http://") && !lower.startsWith("https://")) {
      return new Keys(value.readableFile(), Optional.empty());
    }
    try {
      URI uri = new URI(value.text());
      if (uri.getHost() == null) {
        throw value.error("\"" + value.text() + "\" has no host");
      }
      return new Keys(Optional.empty(), Optional.of(uri.toURL()));
    } catch (URISyntaxException | MalformedURLException e) {
      throw value.error("\"" + value.text() + "\" is not a URL");
    }
  }

  private static Optional<AuditLog.Target> audit(SettingValues values) {
    SettingValue target = values.get(Setting.AUDIT);
    long maxBytes = values.get(Setting.AUDIT_MAX_SIZE).size(1L << 20, 10L << 30);
    int keep = values.get(Setting.AUDIT_KEEP).count(0, 1_000);
    if (target.isEmpty()) {
      return Optional.empty();
    }
    Optional<Path> file =
        target.text().equals(STANDARD_OUTPUT) ? Optional.empty() : Optional.of(target.path());
    return Optional.of(new AuditLog.Target(file, maxBytes, keep));
  }
}
