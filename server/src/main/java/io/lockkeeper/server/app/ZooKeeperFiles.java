package io.lockkeeper.server.app;

import io.lockkeeper.server.zookeeper.client.ClientAccess;
import io.lockkeeper.server.zookeeper.record.ZooKeeperAccess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import javax.security.auth.login.Configuration;

/** Reads from the settings how to authenticate at ZooKeeper, and checks the files. */
final class ZooKeeperFiles {

  private static final String JAAS_FILE = "java.security.auth.login.config";

  /** What ZooKeeper's client looks for, unless it is told another name. */
  private static final String JAAS_SECTION = "Client";

  private ZooKeeperFiles() {}

  static ZooKeeperAccess access(SettingValues values) {
    return new ZooKeeperAccess(
        credentials(values.get(Setting.ZOOKEEPER_CREDENTIALS)), isSaslConfigured(), tls(values));
  }

  private static Optional<Path> credentials(SettingValue value) {
    Optional<Path> file = value.readableFile();
    file.ifPresent(path -> check(path, value));
    return file;
  }

  private static void check(Path file, SettingValue value) {
    try {
      ClientAccess.read(file);
    } catch (IOException e) {
      throw value.error(String.valueOf(e.getMessage()));
    }
  }

  private static boolean isSaslConfigured() {
    if (System.getProperty(JAAS_FILE) == null) {
      return false;
    }
    try {
      return Configuration.getConfiguration().getAppConfigurationEntry(JAAS_SECTION) != null;
    } catch (SecurityException e) {
      throw new ConfigException(JAAS_FILE + ": " + e.getMessage());
    }
  }

  private static Optional<ZooKeeperAccess.Tls> tls(SettingValues values) {
    SettingValue keyValue = values.get(Setting.ZOOKEEPER_TLS_KEY_STORE);
    SettingValue trustValue = values.get(Setting.ZOOKEEPER_TLS_TRUST_STORE);
    SettingValue tlsValue = values.get(Setting.ZOOKEEPER_TLS);
    Optional<Path> keyStore =
        keyValue.pemFile("PRIVATE KEY", "a chain and its unencrypted PKCS#8 key in PEM");
    Optional<Path> chain = keyValue.pemFile("CERTIFICATE", "a chain and its key in PEM");
    Optional<Path> trustStore = trustValue.pemFile("CERTIFICATE", "a file of certificates in PEM");
    if (!tlsValue.isTrue()) {
      if (chain.isPresent() || trustStore.isPresent()) {
        throw (chain.isPresent() ? keyValue : trustValue).error("needs --zookeeper-tls true");
      }
      return Optional.empty();
    }
    Path trusted =
        trustStore.orElseThrow(
            () ->
                tlsValue.error(
                    "needs --zookeeper-tls-trust-store: who signs ZooKeeper's certificates"));
    return Optional.of(new ZooKeeperAccess.Tls(keyStore, trusted));
  }
}
