package io.lockkeeper.server.zookeeper.client;

import io.lockkeeper.server.zookeeper.record.ZooKeeperAccess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.zookeeper.ClientCnxnSocketNetty;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;

/**
 * Configures handles for an access. Everything goes by way of each handle's own configuration:
 * several servers with different settings may live in one process.
 */
public final class ClientAccess {

  private static final String DIGEST = "digest";
  private static final int MAX_FILE_BYTES = 1_024;
  private static final Pattern LINE = Pattern.compile("[^\\s:][^:\\r\\n]*:[^\\r\\n]+");
  private static final Set<PosixFilePermission> OTHERS =
      EnumSet.of(
          PosixFilePermission.GROUP_WRITE,
          PosixFilePermission.OTHERS_READ,
          PosixFilePermission.OTHERS_WRITE);

  private final ZooKeeperAccess access;

  /** Makes one; no file is read before it is needed. */
  public ClientAccess(ZooKeeperAccess access) {
    this.access = access;
  }

  /** Returns a configuration for one handle, to which more may be added. */
  public ZKClientConfig config() {
    ZKClientConfig config = new ZKClientConfig();
    // Where the process has a JAAS configuration for another purpose, or none.
    config.setProperty(ZKClientConfig.ENABLE_CLIENT_SASL_KEY, Boolean.toString(access.sasl()));
    access.tls().ifPresent(tls -> secure(config, tls));
    return config;
  }

  private static void secure(ZKClientConfig config, ZooKeeperAccess.Tls tls) {
    config.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
    // The other transport knows no TLS.
    config.setProperty(
        ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, ClientCnxnSocketNetty.class.getName());
    config.setProperty("zookeeper.ssl.trustStore.location", tls.trustStore().toString());
    config.setProperty("zookeeper.ssl.trustStore.type", "PEM");
    tls.keyStore()
        .ifPresent(
            file -> {
              config.setProperty("zookeeper.ssl.keyStore.location", file.toString());
              config.setProperty("zookeeper.ssl.keyStore.type", "PEM");
            });
    config.setProperty("zookeeper.ssl.hostnameVerification", "true");
    // Whoever answers reverse look-ups would say which name a certificate has to have.
    config.setProperty("zookeeper.ssl.allowReverseDnsLookup", "false");
  }

  /**
   * Reads what the next handle authenticates itself with; empty where that is not by digest.
   *
   * @throws IOException if the file of credentials cannot be used; the message names it
   */
  public Optional<byte[]> readDigest() throws IOException {
    return access.credentials().isEmpty()
        ? Optional.empty()
        : Optional.of(read(access.credentials().get()).getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Has a new handle authenticate itself on each of its connections. Before anything else is asked
   * of it: a session that exists knows nothing of who has used it before.
   */
  public static void authenticate(ZooKeeper handle, Optional<byte[]> digest) {
    digest.ifPresent(userAndPassword -> handle.addAuthInfo(DIGEST, userAndPassword));
  }

  /**
   * Returns who the credentials say that we are, without the password: {@code digest:user}; {@code
   * sasl}; or that we prove nothing.
   */
  public String identity() {
    if (access.credentials().isPresent()) {
      try {
        String line = read(access.credentials().get());
        return DIGEST + ":" + line.substring(0, line.indexOf(':'));
      } catch (IOException e) {
        return DIGEST + " of a file that cannot be used";
      }
    }
    return access.sasl() ? "sasl" : "nobody: there are no credentials";
  }

  /**
   * Reads the line of a file of credentials.
   *
   * @throws IOException if it cannot be read, or is not one line {@code user:password}
   */
  public static String read(Path file) throws IOException {
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      throw new IOException(file + " is not a regular file"); // A pipe would block the read.
    }
    if (Files.size(file) > MAX_FILE_BYTES) {
      throw new IOException(file + " has more than " + MAX_FILE_BYTES + " bytes");
    }
    String line = Files.readString(file, StandardCharsets.UTF_8).strip();
    if (!LINE.matcher(line).matches()) {
      // Not what it says: it may be a password.
      throw new IOException(file + " is not one line user:password");
    }
    return line;
  }

  /**
   * Returns the file of credentials if others than its owner and group may read it, or others than
   * its owner change it.
   */
  public Optional<Path> exposedFile() {
    return access.credentials().filter(ClientAccess::isExposed);
  }

  private static boolean isExposed(Path file) {
    try {
      return mayBeRead(file);
    } catch (IOException e) {
      return false; // Whoever reads it next says so.
    }
  }

  private static boolean mayBeRead(Path file) throws IOException {
    if (!Files.getFileStore(file).supportsFileAttributeView("posix")) {
      return false;
    }
    return Files.getPosixFilePermissions(file).stream().anyMatch(OTHERS::contains);
  }
}
