package io.lockkeeper.server.app;

/**
 * A setting is not what it must be. The message is one human-readable line: which setting, where it
 * came from, the limit.
 */
public final class ConfigException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** Says what is wrong. */
  public ConfigException(String message) {
    super(message);
  }
}
