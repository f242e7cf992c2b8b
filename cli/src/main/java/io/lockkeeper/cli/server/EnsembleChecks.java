package io.lockkeeper.cli.server;

import io.lockkeeper.server.app.ServerConfig;
import io.lockkeeper.server.zookeeper.client.ClientAccess;
import io.lockkeeper.server.zookeeper.record.ZooKeeperAccess;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;

/**
 * Looks at an ensemble as a coordinator does, and as a stranger. Writes only in transactions that
 * are made to fail.
 */
final class EnsembleChecks {

  private static final int MAX_SAMPLED = 100;
  private static final String SUBJECT = "ensemble";
  private static final String TRIAL = "/.trial";

  private final ServerConfig.ZooKeeper settings;
  private final Consumer<Finding> tell;
  private boolean connected;

  EnsembleChecks(ServerConfig.ZooKeeper settings, Consumer<Finding> tell) {
    this.settings = settings;
    this.tell = tell;
  }

  void run() {
    ZooKeeperAccess access = settings.access();
    tell.accept(
        access.tls().isPresent()
            ? Finding.ok(SUBJECT, "TLS is used")
            : Finding.warn(SUBJECT, "no TLS: whoever can listen reads all; see --zookeeper-tls"));
    tell.accept(
        access.isAuthenticated()
            ? Finding.ok(SUBJECT, "credentials are used: " + new ClientAccess(access).identity())
            : Finding.warn(
                SUBJECT,
                "no credentials: whoever reaches ZooKeeper can take every lock; see --zookeeper-credentials"));
    withClient(access, this::checkAsCoordinator, this::unconnected);
    if (connected) {
      ZooKeeperAccess stranger = new ZooKeeperAccess(Optional.empty(), false, access.tls());
      withClient(
          stranger,
          this::checkAsStranger,
          why -> tell.accept(Finding.ok("stranger", "a client without credentials is not let in")));
    } else {
      tell.accept(Finding.warn("stranger", "not looked at: not even a coordinator gets a session"));
    }
    tellUnseen();
  }

  /** One client's look. */
  private interface Look {
    void at(ZooKeeper client) throws KeeperException, InterruptedException;
  }

  private void withClient(ZooKeeperAccess access, Look look, Consumer<String> unconnected) {
    try (EnsembleClient client = EnsembleClient.connect(settings, access)) {
      connected = true;
      look.at(client.handle());
    } catch (IOException | KeeperException e) {
      unconnected.accept(String.valueOf(e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void unconnected(String why) {
    tell.accept(
        Finding.fail(
            SUBJECT,
            "a coordinator gets no session ("
                + why
                + "); look at --zookeeper, the credentials and the TLS files"));
  }

  private void checkAsCoordinator(ZooKeeper client) throws KeeperException, InterruptedException {
    int granted = client.getSessionTimeout();
    long asked = settings.lockSessionTimeout().toMillis();
    tell.accept(
        granted == asked
            ? Finding.ok(SUBJECT, "a session of " + granted + " ms is granted")
            : Finding.fail(
                SUBJECT,
                "a session of " + granted + " ms is granted where " + asked + " ms are asked for"));
    long start = System.nanoTime();
    client.multi(List.of(Op.check("/", -1)));
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    tell.accept(
        millis < 1_000
            ? Finding.ok(SUBJECT, "the quorum answers a write within " + millis + " ms")
            : Finding.warn(
                SUBJECT, "the quorum takes " + millis + " ms for a write: look at its disks"));
    if (!isThere(client, settings.root())) {
      String parent = parent(settings.root());
      tell.accept(
          mayCreate(client, parent)
              ? Finding.ok(settings.root(), "does not exist: the first coordinator makes it")
              : Finding.fail(settings.root(), "does not exist, and we may not create it"));
      return;
    }
    for (String path : List.of("", "/leases", "/sessions", "/coordinators", "/freezes")) {
      checkNode(client, settings.root() + path, true);
    }
    checkNode(client, settings.locksPath(), settings.locksPath().startsWith(settings.root() + "/"));
    checkChildren(
        client, settings.locksPath(), "locks", "they are removed when they are not in use");
    checkChildren(
        client,
        settings.root() + "/sessions",
        "claims of sessions",
        "close them with setAcl -R in zkCli.sh");
  }

  /** What is closed to us is there. */
  private static boolean isThere(ZooKeeper client, String path)
      throws KeeperException, InterruptedException {
    try {
      return client.exists(path, false) != null;
    } catch (KeeperException.NoAuthException e) {
      return true;
    }
  }

  private static String parent(String path) {
    int slash = path.lastIndexOf('/');
    return slash <= 0 ? "/" : path.substring(0, slash);
  }

  private void checkNode(ZooKeeper client, String path, boolean ours)
      throws KeeperException, InterruptedException {
    try {
      boolean open = isOpen(client.getACL(path, null));
      if (!mayCreate(client, path)) {
        tell.accept(Finding.fail(path, "its access list does not let us create and delete there"));
      } else if (!open) {
        tell.accept(Finding.ok(path, "is for those alone whom its access list names"));
      } else if (!ours) {
        tell.accept(
            Finding.warn(path, "is open to everybody: it is shared, and coordinators leave it so"));
      } else {
        tell.accept(
            settings.access().isAuthenticated()
                ? Finding.fail(
                    path,
                    "is open to everybody, so that no coordinator with credentials serves: close it"
                        + " with setAcl -R in zkCli.sh, see docs/security.md")
                : Finding.warn(
                    path,
                    "is open to everybody: close it with setAcl -R in zkCli.sh, and start the"
                        + " coordinators with --zookeeper-credentials, see docs/security.md"));
      }
    } catch (KeeperException.NoAuthException e) {
      tell.accept(
          Finding.fail(
              path, "is closed to us: start with the credentials that its access list names"));
    } catch (KeeperException.NoNodeException e) {
      tell.accept(Finding.ok(path, "does not exist: the first coordinator makes it"));
    }
  }

  private void checkChildren(ZooKeeper client, String parent, String what, String advice)
      throws KeeperException, InterruptedException {
    if (!settings.access().isAuthenticated()) {
      return;
    }
    List<String> open = new ArrayList<>();
    int sampled = 0;
    try {
      for (String name : client.getChildren(parent, false)) {
        if (sampled == MAX_SAMPLED) {
          break;
        }
        sampled++;
        addIfOpen(client, parent + "/" + name, open);
      }
    } catch (KeeperException.NoAuthException | KeeperException.NoNodeException e) {
      return; // Told of already.
    }
    tell.accept(
        open.isEmpty()
            ? Finding.ok(parent, "none of " + sampled + " " + what + " is open to everybody")
            : Finding.warn(
                open.get(0),
                open.size() + " of " + sampled + " " + what + " are open to everybody; " + advice));
  }

  private static void addIfOpen(ZooKeeper client, String path, List<String> open)
      throws KeeperException, InterruptedException {
    try {
      if (isOpen(client.getACL(path, null))) {
        open.add(path);
      }
    } catch (KeeperException.NoNodeException | KeeperException.NoAuthException e) {
      // Gone since, or closed to us too.
    }
  }

  private static boolean isOpen(List<ACL> acl) {
    return acl.stream()
        .anyMatch(
            entry ->
                entry.getId().equals(Ids.ANYONE_ID_UNSAFE)
                    && (entry.getPerms() & ~Perms.READ) != 0);
  }

  /** Tries to create and delete a node, in a transaction that is made to fail. */
  private static boolean mayCreate(ZooKeeper client, String parent)
      throws KeeperException, InterruptedException {
    String path = parent.equals("/") ? TRIAL : parent + TRIAL;
    try {
      client.multi(
          List.of(
              Op.create(path, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT),
              Op.delete(path, -1),
              Op.check("/", Integer.MAX_VALUE)));
      return true;
    } catch (KeeperException.NoAuthException e) {
      return false;
    } catch (KeeperException.BadVersionException e) {
      return true;
    }
  }

  private void checkAsStranger(ZooKeeper client) throws KeeperException, InterruptedException {
    String subject = "stranger";
    try {
      tell.accept(
          mayCreate(client, "/")
              ? Finding.warn(
                  subject,
                  "a client without credentials may connect and create nodes; see enforce.auth.enabled, or firewall")
              : Finding.ok(
                  subject, "a client without credentials may connect, and create nothing"));
      client.getChildren(settings.root() + "/sessions", false);
      tell.accept(
          Finding.warn(
              subject, "reads the session passwords under " + settings.root() + "/sessions"));
    } catch (KeeperException.NoAuthException e) {
      tell.accept(Finding.ok(subject, "cannot read what is under " + settings.root()));
    } catch (KeeperException.NoNodeException e) {
      tell.accept(Finding.ok(subject, "finds nothing of ours yet"));
    } catch (KeeperException.SessionClosedRequireAuthException e) {
      tell.accept(Finding.ok(subject, "is sent away: ZooKeeper enforces authentication"));
    }
  }

  private void tellUnseen() {
    tell.accept(
        Finding.ok(
            "unseen",
            "whether a digest superuser is set (zookeeper.DigestAuthenticationProvider.superDigest) cannot be seen: it"
                + " may do anything"));
    tell.accept(
        Finding.ok(
            "unseen",
            "jute.maxbuffer, maxClientCnxns and znode.container.* cannot be seen: leave the first at its default, and see"
                + " docs/operations.md for the others"));
    tell.accept(Finding.ok("clock", "not compared: no lock depends on a wall clock"));
  }
}
