package io.lockkeeper.server.app;

import java.util.regex.Pattern;

/**
 * A setting as it counts. No value is a secret: those are in files, of which this has the path.
 *
 * @param setting the setting
 * @param value its value, without what in a URL may be a password; may be empty
 * @param source the flag, the variable or the file that gave it, or {@code default}
 */
public record EffectiveSetting(Setting setting, String value, String source) {

  /** Where nobody gave a value. */
  static final String DEFAULT = "default";

  private static final Pattern URL_USER = Pattern.compile("(?<=^https?://)[^/@]*@");
  private static final Pattern URL_QUERY = Pattern.compile("(?<=^https?://[^?]{1,2000}\\?).*");

  /** Hides what a URL has before its host, and behind its path. */
  public EffectiveSetting {
    if (setting == Setting.JWT_JWKS) {
      value = URL_USER.matcher(value).replaceFirst("***@");
      value = URL_QUERY.matcher(value).replaceFirst("***");
    }
  }

  @Override
  public String toString() {
    return setting.key() + "=" + value;
  }
}
