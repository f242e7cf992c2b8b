package io.lockkeeper.cli.server;

import io.lockkeeper.cli.shell.Logging;
import io.lockkeeper.server.app.Profile;
import io.lockkeeper.server.app.Setting;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/** A command that looks at a ZooKeeper ensemble by itself, with a coordinator's settings. */
public abstract class EnsembleCommand extends ServerCommand {

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

  EnsembleCommand() {
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

  /** Logs nothing: what ZooKeeper's client would log, the command says anyway. */
  final void prepare() {
    Logging.level("OFF");
  }
}
