package io.lockkeeper.integration.clients;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.failover.Cluster;
import io.lockkeeper.integration.failover.Seat;
import io.lockkeeper.integration.harness.ByteProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * One client of each language, each of which holds a lock that the next one waits for, behind
 * proxies of their own.
 */
final class ClientCrew implements AutoCloseable {

  private final String prefix;
  private final List<ByteProxy> doors;
  private final List<DrivenClient> clients = new ArrayList<>();
  private final Map<Language, Long> tokens = new TreeMap<>();

  private ClientCrew(Cluster cluster, String prefix, Duration ttl) {
    this.prefix = prefix;
    this.doors = cluster.seats().stream().map(Seat::port).map(ByteProxy::to).toList();
    List<String> servers = doors.stream().map(ByteProxy::address).toList();
    for (Language language : Language.ready()) {
      clients.add(DrivenClient.start(language, servers, ttl));
    }
  }

  /** Starts clients that have no lock yet. */
  static ClientCrew start(Cluster cluster, String prefix, Duration ttl) {
    return new ClientCrew(cluster, prefix, ttl);
  }

  /** Starts clients at the first coordinator; each holds a lock, and the next waits for it. */
  static ClientCrew holding(Cluster cluster, String prefix, Duration ttl) {
    ClientCrew crew = start(cluster, prefix, ttl);
    crew.takeAll();
    for (DrivenClient client : crew.clients) {
      crew.after(client).ask("waits", crew.lockOf(client));
    }
    return crew;
  }

  /** Makes each client hold a lock of its own. */
  void takeAll() {
    clients.forEach(client -> tokens.put(client.language(), client.take("held", lockOf(client))));
  }

  /** Returns the token of the lock that a client holds. */
  long tokenOf(DrivenClient client) {
    return tokens.get(client.language());
  }

  /** Returns the name of the lock that a client holds. */
  String lockOf(DrivenClient client) {
    return prefix + "/" + client.language().label();
  }

  /** Returns who waits for a client's lock: of a crew of one, itself. */
  private DrivenClient after(DrivenClient client) {
    return clients.get((clients.indexOf(client) + 1) % clients.size());
  }

  /** Returns all clients. */
  List<DrivenClient> clients() {
    return clients;
  }

  /** Resets all connections of the clients. */
  void cutConnections() {
    doors.forEach(ByteProxy::cut);
  }

  /** Each client can go on, holds what it held, and hands it on to who waits for it. */
  void mustHaveKeptEverything() {
    for (DrivenClient client : clients) {
      long unused = client.take("after", lockOf(client) + "/after");
      assertThat(client.hasLost("held")).as(client::said).isFalse();
      assertThat(client.believes("held")).as(client::said).isTrue();
    }
    for (DrivenClient client : clients) {
      DrivenClient next = after(client);
      assertThat(next.process().hasReported("granted", "waits")).as(next::said).isFalse();
      client.release("held");
      assertThat(next.awaitToken("waits")).as(next::said).isGreaterThan(tokenOf(client));
      next.release("waits");
    }
  }

  @Override
  public void close() {
    clients.forEach(DrivenClient::close);
    doors.forEach(ByteProxy::close);
  }
}
