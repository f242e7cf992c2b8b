package io.lockkeeper.server.core.shard;

import java.util.List;

/**
 * One ensemble with its coordinators.
 *
 * @param id its name: 1 to {@value #MAX_ID} of a-z, 0-9 and '-'
 * @param addresses where its coordinators serve gRPC, as host:port
 * @param hashed whether it serves namespaces that the table does not name
 * @param tokenEpochs how many epochs are added to ZooKeeper's in the tokens of those namespaces
 */
public record Shard(String id, List<String> addresses, boolean hashed, int tokenEpochs) {

  /** The longest id. */
  public static final int MAX_ID = 32;

  /** The most addresses. */
  public static final int MAX_ADDRESSES = 16;

  /** Copies the addresses. */
  public Shard {
    addresses = List.copyOf(addresses);
  }

  /** Returns whether a text may be an id. */
  public static boolean isId(String text) {
    return text.length() <= MAX_ID && text.matches("[a-z0-9-]+");
  }
}
