package io.lockkeeper.server.zookeeper.client;

import java.util.Collection;
import org.apache.zookeeper.WatchedEvent;

/** Notes in words what a handle tells. */
public record ToldListener(Collection<String> told) implements HandleListener {

  @Override
  public void onConnected() {
    told.add("connected");
  }

  @Override
  public void onDisconnected() {
    told.add("disconnected");
  }

  @Override
  public void onExpired() {
    told.add("expired");
  }

  @Override
  public void onAuthFailed() {
    told.add("refused");
  }

  @Override
  public void onNode(WatchedEvent event) {
    told.add(event.getPath());
  }
}
