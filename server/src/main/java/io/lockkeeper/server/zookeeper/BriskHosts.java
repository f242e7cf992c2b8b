package io.lockkeeper.server.zookeeper;

import java.net.InetSocketAddress;
import java.util.Collection;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.client.StaticHostProvider;

/**
 * The servers of the ensemble, with a shorter pause between two rounds of attempts than the
 * client's own second.
 */
final class BriskHosts implements HostProvider {

  private static final long PAUSE_MILLIS = 100;

  private final HostProvider servers;

  BriskHosts(Collection<InetSocketAddress> addresses) {
    servers = new StaticHostProvider(addresses);
  }

  @Override
  public int size() {
    return servers.size();
  }

  @Override
  public InetSocketAddress next(long spinDelayMillis) {
    return servers.next(Math.min(spinDelayMillis, PAUSE_MILLIS));
  }

  @Override
  public void onConnected() {
    servers.onConnected();
  }

  @Override
  public boolean updateServerList(
      Collection<InetSocketAddress> serverAddresses, InetSocketAddress currentHost) {
    return servers.updateServerList(serverAddresses, currentHost);
  }
}
