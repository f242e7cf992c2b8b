package io.lockkeeper.integration.chaos;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/** What the coordinators keep in ZooKeeper, as the harness sees it, past all proxies. */
final class Root implements AutoCloseable {

  private static final int SESSION_TIMEOUT_MILLIS = 30_000;
  private static final int TAG_CHARS = 16;
  private static final String ROOT = "/lockkeeper";
  private static final Pattern OWNER = Pattern.compile("\"owner\"\\s*:\\s*\"([^\"]*)\"");

  private final String connectString;
  private ZooKeeper zookeeper;

  /** Something in ZooKeeper could not be read now. */
  static final class Unreadable extends Exception {
    private static final long serialVersionUID = 1L;

    Unreadable(KeeperException cause) {
      super(cause);
    }
  }

  Root(String connectString) {
    this.connectString = connectString;
    this.zookeeper = connect();
  }

  private ZooKeeper connect() {
    try {
      return new ZooKeeper(connectString, SESSION_TIMEOUT_MILLIS, event -> {});
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the ids of the coordinators that are members. */
  List<String> members() throws Unreadable, InterruptedException {
    return children(ROOT + "/coordinators");
  }

  /** Returns each lock session that is claimed, with its owner. */
  Map<String, String> claims() throws Unreadable, InterruptedException {
    Map<String, String> owners = new TreeMap<>();
    for (String session : children(ROOT + "/sessions")) {
      try {
        byte[] data = read(ROOT + "/sessions/" + session);
        Matcher owner = OWNER.matcher(new String(data, StandardCharsets.UTF_8));
        owners.put(session, owner.find() ? owner.group(1) : "");
      } catch (KeeperException.NoNodeException gone) {
        owners.remove(session);
      }
    }
    return owners;
  }

  /** Returns the tags of the leases that live on a session. */
  List<String> leasesOf(String session) throws Unreadable, InterruptedException {
    long id = Long.parseUnsignedLong(session, 16);
    List<String> tags = new java.util.ArrayList<>();
    for (String lease : children(ROOT + "/leases")) {
      Stat stat = stat(ROOT + "/leases/" + lease);
      if (stat != null && stat.getEphemeralOwner() == id) {
        tags.add(lease.substring(0, Math.min(TAG_CHARS, lease.length())));
      }
    }
    return tags;
  }

  /** Returns the paths of all lease records. */
  List<String> leases() throws Unreadable, InterruptedException {
    return children(ROOT + "/leases").stream().map(name -> ROOT + "/leases/" + name).toList();
  }

  /** Returns the paths of all that is in the queues. */
  List<String> entries() throws Unreadable, InterruptedException {
    List<String> paths = new java.util.ArrayList<>();
    for (String lock : children(ROOT + "/locks")) {
      String directory = ROOT + "/locks/" + lock;
      children(directory).forEach(entry -> paths.add(directory + "/" + entry));
    }
    return paths;
  }

  private List<String> children(String path) throws Unreadable, InterruptedException {
    try {
      return zookeeper.getChildren(path, false);
    } catch (KeeperException.NoNodeException e) {
      return List.of();
    } catch (KeeperException e) {
      throw unreadable(e);
    }
  }

  private byte[] read(String path)
      throws KeeperException.NoNodeException, Unreadable, InterruptedException {
    try {
      return zookeeper.getData(path, false, null);
    } catch (KeeperException.NoNodeException e) {
      throw e;
    } catch (KeeperException e) {
      throw unreadable(e);
    }
  }

  private Stat stat(String path) throws Unreadable, InterruptedException {
    try {
      return zookeeper.exists(path, false);
    } catch (KeeperException e) {
      throw unreadable(e);
    }
  }

  private Unreadable unreadable(KeeperException why) throws InterruptedException {
    if (why instanceof KeeperException.SessionExpiredException) {
      zookeeper.close();
      zookeeper = connect();
    }
    return new Unreadable(why);
  }

  @Override
  public void close() {
    try {
      zookeeper.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
