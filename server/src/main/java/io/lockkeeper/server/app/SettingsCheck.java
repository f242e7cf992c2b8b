package io.lockkeeper.server.app;

import io.lockkeeper.server.security.tls.TlsFiles;
import io.lockkeeper.server.security.tls.TlsPaths;
import io.lockkeeper.server.zookeeper.client.ClientAccess;
import io.lockkeeper.server.zookeeper.record.ZooKeeperAccess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.common.X509Exception;

/**
 * Looks whether a coordinator could start with its settings: reads all files that they name, and
 * whether it may write where it must. Connects to nothing, listens nowhere, and changes nothing; so
 * it may look while a coordinator runs with the same settings.
 */
public final class SettingsCheck {

  private static final List<Setting> TLS =
      List.of(Setting.TLS_CERT, Setting.TLS_KEY, Setting.TLS_CLIENT_CA, Setting.PEER_CA);

  private final ServerConfig config;
  private final List<String> problems = new ArrayList<>();

  private SettingsCheck(ServerConfig config) {
    this.config = config;
  }

  /** Returns what is wrong, each beginning with the setting's flag; empty if all is well. */
  public static List<String> problems(ServerConfig config) {
    SettingsCheck check = new SettingsCheck(config);
    config.tls().ifPresent(check::checkTls);
    check.checkSecurity();
    config.security().audit().ifPresent(target -> target.file().ifPresent(check::checkAudit));
    check.checkZooKeeper(config.zookeeper().access());
    config.dataDir().ifPresent(check::checkDataDir);
    check.checkAdvertise();
    return List.copyOf(check.problems);
  }

  private void checkTls(TlsPaths paths) {
    try {
      var unused = TlsFiles.open(paths, Clock.systemUTC());
    } catch (IOException e) {
      String why = String.valueOf(e.getMessage());
      add(settingOf(why), why);
    }
  }

  /** The message begins with the file. */
  private Setting settingOf(String why) {
    return config.effective().stream()
        .filter(given -> TLS.contains(given.setting()) && !given.value().isEmpty())
        .filter(given -> why.startsWith(given.value()))
        .findFirst()
        .map(EffectiveSetting::setting)
        .orElse(Setting.TLS_CERT);
  }

  /**
   * Each by itself, so that all that is wrong is told; without the audit, which would be opened.
   */
  private void checkSecurity() {
    SecurityConfig all = config.security();
    Optional<Path> noFile = Optional.empty();
    for (SecurityConfig one :
        List.of(
            new SecurityConfig(all.policy(), noFile, Optional.empty(), Optional.empty()),
            new SecurityConfig(noFile, all.tokens(), Optional.empty(), Optional.empty()),
            new SecurityConfig(noFile, noFile, all.jwt(), Optional.empty()))) {
      try {
        Security.open(one).close();
      } catch (ConfigException e) {
        problems.add(String.valueOf(e.getMessage()));
      }
    }
  }

  private void checkAudit(Path file) {
    if (Files.isDirectory(file)) {
      add(Setting.AUDIT, file + " is a directory");
    } else if (Files.exists(file) ? !Files.isWritable(file) : !isWritable(parent(file))) {
      add(Setting.AUDIT, file + " may not be written");
    }
  }

  private void checkZooKeeper(ZooKeeperAccess access) {
    if (access.tls().isEmpty()) {
      return;
    }
    try (ClientX509Util tls = new ClientX509Util()) {
      var unused = tls.createSSLContext(new ClientAccess(access).config());
    } catch (X509Exception | RuntimeException e) {
      add(
          access.tls().get().keyStore().isPresent()
              ? Setting.ZOOKEEPER_TLS_KEY_STORE
              : Setting.ZOOKEEPER_TLS_TRUST_STORE,
          rootCause(e) + " (or the file of " + Setting.ZOOKEEPER_TLS_TRUST_STORE.flag() + ")");
    }
  }

  private static String rootCause(Throwable error) {
    Throwable root = error;
    while (root.getCause() != null && root.getCause() != root) {
      root = root.getCause();
    }
    return String.valueOf(root.getMessage());
  }

  private void checkAdvertise() {
    try {
      var unused = Engine.advertised(config);
    } catch (ConfigException e) {
      problems.add(String.valueOf(e.getMessage()));
    }
  }

  private void checkDataDir(Path directory) {
    if (Files.exists(directory) && !Files.isDirectory(directory)) {
      add(Setting.DATA_DIR, directory + " is not a directory");
    } else if (!isWritable(directory)) {
      add(Setting.DATA_DIR, directory + " may not be written");
    } else {
      Home.problem(directory).ifPresent(why -> add(Setting.DATA_DIR, why));
    }
  }

  /** Returns whether files can be made there, in a directory that may be made first. */
  private static boolean isWritable(Path directory) {
    Path nearest = directory.toAbsolutePath().normalize();
    while (!Files.exists(nearest)) {
      nearest = parent(nearest);
    }
    return Files.isDirectory(nearest) && Files.isWritable(nearest);
  }

  private static Path parent(Path file) {
    Path parent = file.toAbsolutePath().normalize().getParent();
    return parent == null ? file.toAbsolutePath().getRoot() : parent;
  }

  private void add(Setting setting, String why) {
    problems.add(setting.flag() + ": " + why);
  }
}
