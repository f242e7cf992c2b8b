package io.lockkeeper.bench.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.lease.LeaseGrantResponse;
import io.etcd.jetcd.lock.LockResponse;
import io.lockkeeper.bench.load.AsyncCrew;
import io.lockkeeper.bench.load.AsyncLocks;
import io.lockkeeper.bench.load.Crew;
import io.lockkeeper.bench.load.LoadProgram;
import io.lockkeeper.bench.load.LoadedSystem;
import io.lockkeeper.bench.load.Order;
import io.lockkeeper.bench.load.Tally;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/**
 * etcd's own lock service, asked without a thread for each client. Each client has a lease, as etcd
 * wants it of those who exclude each other; leases are granted before anything is counted.
 */
public final class EtcdLoad implements LoadedSystem {

  private static final long TTL_SECONDS = 600;
  private static final long PATIENCE_SECONDS = 30;

  private final List<Client> connections = new ArrayList<>();

  private EtcdLoad(String server, int count) {
    for (int i = 0; i < count; i++) {
      connections.add(Client.builder().endpoints("http://" + server).build());
    }
  }

  /** Serves orders. Arguments: anything, etcd's address, and how many connections are shared. */
  public static void main(String[] arguments) throws Exception {
    LoadProgram.run(new EtcdLoad(arguments[1], Integer.parseInt(arguments[2])));
  }

  @Override
  public Crew start(Order order, Tally tally) throws Exception {
    List<Long> leases = openLeases(order.clients());
    Crew crew = AsyncCrew.start(order, tally, new Locks(leases));
    return () -> {
      crew.stop();
      closeLeases(leases);
    };
  }

  private List<Long> openLeases(int clients) throws Exception {
    List<CompletableFuture<LeaseGrantResponse>> answers = new ArrayList<>();
    for (int i = 0; i < clients; i++) {
      answers.add(connection(i).getLeaseClient().grant(TTL_SECONDS));
    }
    List<Long> leases = new ArrayList<>();
    for (CompletableFuture<LeaseGrantResponse> answer : answers) {
      leases.add(answer.get(PATIENCE_SECONDS, TimeUnit.SECONDS).getID());
    }
    return leases;
  }

  private void closeLeases(List<Long> leases) throws Exception {
    List<CompletableFuture<?>> answers = new ArrayList<>();
    for (int i = 0; i < leases.size(); i++) {
      answers.add(connection(i).getLeaseClient().revoke(leases.get(i)));
    }
    for (CompletableFuture<?> answer : answers) {
      answer.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }
  }

  private Client connection(int client) {
    return connections.get(client % connections.size());
  }

  /** Locks under the leases of an order's clients. */
  private final class Locks implements AsyncLocks<ByteSequence> {
    private final List<Long> leases;

    Locks(List<Long> leases) {
      this.leases = leases;
    }

    @Override
    public CompletionStage<ByteSequence> acquire(int client, String lock) {
      return connection(client)
          .getLockClient()
          .lock(ByteSequence.from(lock, StandardCharsets.UTF_8), leases.get(client))
          .thenApply(LockResponse::getKey);
    }

    @Override
    public CompletionStage<?> release(int client, ByteSequence key) {
      return connection(client).getLockClient().unlock(key);
    }
  }
}
