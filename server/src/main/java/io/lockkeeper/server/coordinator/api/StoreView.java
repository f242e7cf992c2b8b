package io.lockkeeper.server.coordinator.api;

import io.lockkeeper.server.core.lock.SessionKey;
import java.util.List;
import java.util.Optional;

/**
 * The other coordinators and the lock sessions, as a store sees them.
 *
 * @param members the coordinators that are registered, ordered by id
 * @param sessions the lock sessions, ordered by who serves them
 * @param servers ZooKeeper's servers, as the store was told of them
 * @param connectedTo the server that the mirror is fed by, if it is connected
 */
public record StoreView(
    List<Member> members,
    List<Session> sessions,
    List<String> servers,
    Optional<String> connectedTo) {

  /** Copies the lists. */
  public StoreView {
    members = List.copyOf(members);
    sessions = List.copyOf(sessions);
    servers = List.copyOf(servers);
  }

  /** Returns the same, of an ensemble. */
  public StoreView over(List<String> newServers, Optional<String> newConnectedTo) {
    return new StoreView(members, sessions, newServers, newConnectedTo);
  }

  /**
   * A coordinator.
   *
   * @param peer its id and address
   * @param knownForNanos for how long it has been known here
   */
  public record Member(Peer peer, long knownForNanos) {}

  /**
   * A lock session.
   *
   * @param name a short name, from which ZooKeeper's id of the session cannot be told
   * @param owner who serves it, or did
   * @param epoch how often it has changed hands
   * @param orphaned whether nobody looks after it
   * @param own what it is called here, if it is ours
   */
  public record Session(
      String name, String owner, long epoch, boolean orphaned, Optional<SessionKey> own) {}
}
