package io.lockkeeper.server.zookeeper.client;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.zookeeper.client.StaticHostProvider.Resolver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the addresses of ZooKeeper's servers, and tells the operator, not too often, of a name that
 * has none, and when it has again: every handle asks several times a second. For any thread.
 */
final class HostNames implements Resolver {

  private static final Logger LOG = LoggerFactory.getLogger(HostNames.class);
  private static final long REPEAT_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final Resolver names;
  private final LongSupplier nanoTime;
  private final Map<String, Long> toldNanos = new ConcurrentHashMap<>();

  HostNames(Resolver names, LongSupplier nanoTime) {
    this.names = names;
    this.nanoTime = nanoTime;
  }

  /** Returns the addresses of a name, none where it has none: ZooKeeper's client tries the next. */
  @Override
  public InetAddress[] getAllByName(String name) {
    try {
      InetAddress[] found = names.getAllByName(name);
      if (toldNanos.remove(name) != null) {
        LOG.atInfo().addKeyValue("host", name).log("the name of a ZooKeeper server is found again");
      }
      return found;
    } catch (UnknownHostException e) {
      if (isDue(name)) {
        LOG.atWarn()
            .addKeyValue("host", name)
            .log(
                "the name of a ZooKeeper server has no address: mend --zookeeper, or the name service of this machine; trying on");
      }
      return new InetAddress[0];
    }
  }

  /** Of threads that ask at the same time, one tells. */
  private boolean isDue(String name) {
    long now = nanoTime.getAsLong();
    Long before = toldNanos.putIfAbsent(name, now);
    return before == null || (now - before >= REPEAT_NANOS && toldNanos.replace(name, before, now));
  }
}
