package io.lockkeeper.client.internal.shard;

import io.lockkeeper.client.internal.transport.Discovery;
import java.util.Optional;

/** The servers of one shard, as one client knows them. For any thread. */
public final class ShardServers {

  private final Discovery discovery;
  private volatile Optional<String> id;

  ShardServers(Discovery discovery, Optional<String> id) {
    this.discovery = discovery;
    this.id = id;
  }

  /** Returns where they are. */
  public Discovery discovery() {
    return discovery;
  }

  /** Returns the shard's id; empty: they have not said which shard they are. */
  public Optional<String> id() {
    return id;
  }

  /** They have said which shard they are. */
  void becomeKnown(String shard) {
    id = Optional.of(shard);
  }

  @Override
  public String toString() {
    return id.map(known -> "shard " + known).orElse("the client's servers");
  }
}
