package io.lockkeeper.server.zookeeper.record;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.data.ACL;

/**
 * How this coordinator proves to ZooKeeper who it is, and by what it knows ZooKeeper.
 *
 * @param credentials a file with one line {@code user:password}, for the digest scheme; read anew
 *     for each handle
 * @param sasl whether ZooKeeper's client authenticates by SASL, with the section {@code Client} of
 *     the JAAS configuration
 * @param tls the files of TLS; empty: plaintext
 */
public record ZooKeeperAccess(Optional<Path> credentials, boolean sasl, Optional<Tls> tls) {

  /** Proves nothing, and talks plaintext. */
  public static final ZooKeeperAccess OPEN =
      new ZooKeeperAccess(Optional.empty(), false, Optional.empty());

  /**
   * The files of TLS, in PEM, read anew for each connection.
   *
   * @param keyStore our certificate chain and its key; empty: we show none
   * @param trustStore the authorities one of which must have signed a ZooKeeper server's
   *     certificate
   */
  public record Tls(Optional<Path> keyStore, Path trustStore) {}

  /** Returns whether it proves an identity, so that what it creates can be its own. */
  public boolean isAuthenticated() {
    return credentials.isPresent() || sasl;
  }

  /** Returns the access list of every node that we create: ours alone if we prove who we are. */
  public List<ACL> acl() {
    return isAuthenticated() ? Ids.CREATOR_ALL_ACL : Ids.OPEN_ACL_UNSAFE;
  }
}
