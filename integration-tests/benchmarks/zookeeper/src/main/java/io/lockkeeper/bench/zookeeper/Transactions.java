package io.lockkeeper.bench.zookeeper;

import io.lockkeeper.bench.load.Crew;
import io.lockkeeper.bench.load.LoadedSystem;
import io.lockkeeper.bench.load.Order;
import io.lockkeeper.bench.load.Tally;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.zookeeper.AsyncCallback.MultiCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.CreateResult;
import org.apache.zookeeper.ZooDefs.Ids;

/**
 * The same writes as {@link SingleWrites}, in transactions of up to a hundred: clients form groups
 * that create together and delete together. The limit with batching.
 *
 * <p>Where the writes are to be seen as well, a group goes on when a watch has told of all of them,
 * as a lock must that decides by a copy of the queues.
 *
 * <p>Groups are of at most half of all clients, so that two transactions at least are under way.
 */
final class Transactions implements LoadedSystem {

  private static final int LARGEST_GROUP = 100;
  private static final byte[] DATA = new byte[0];
  private static final long PATIENCE_SECONDS = 60;

  private final Connections connections;
  private final Optional<SeenWrites> seen;

  Transactions(Connections connections, Optional<SeenWrites> seen) {
    this.connections = connections;
    this.seen = seen;
  }

  @Override
  public Crew start(Order order, Tally tally) throws Exception {
    for (int i = 0; i < order.clients(); i++) {
      connections.ensure(SingleWrites.directory(order.lock(i, 1)));
    }
    Team team = new Team(tally);
    int size = Math.min(LARGEST_GROUP, (order.clients() + 1) / 2);
    for (int first = 0; first < order.clients(); first += size) {
      team.groups.add(
          team
          .new Group(order, first, Math.min(order.clients(), first + size), team.groups.size()));
    }
    team.start();
    return team;
  }

  /** All groups of an order. */
  private final class Team implements Crew {
    private final Tally tally;
    private final List<Group> groups = new ArrayList<>();
    private CountDownLatch working = new CountDownLatch(0);
    private volatile boolean stopping;

    Team(Tally tally) {
      this.tally = tally;
    }

    void start() {
      working = new CountDownLatch(groups.size());
      groups.forEach(Group::create);
    }

    @Override
    public void stop() throws InterruptedException {
      stopping = true;
      if (!working.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("a group does not end");
      }
    }

    /** Clients that write together; their answers come one after the other. */
    private final class Group {
      private final List<Op> creations = new ArrayList<>();
      private final List<String> directories = new ArrayList<>();
      private final int number;
      private long askedNanos;

      Group(Order order, int first, int end, int number) {
        this.number = number;
        for (int i = first; i < end; i++) {
          directories.add(SingleWrites.directory(order.lock(i, 1)));
          creations.add(
              Op.create(
                  directories.get(directories.size() - 1) + "/lock-",
                  DATA,
                  Ids.OPEN_ACL_UNSAFE,
                  CreateMode.EPHEMERAL_SEQUENTIAL));
        }
      }

      void create() {
        if (stopping) {
          working.countDown();
          return;
        }
        askedNanos = System.nanoTime();
        commit(creations, this::delete);
      }

      private void delete(List<OpResult> created) {
        long nanos = System.nanoTime() - askedNanos;
        List<Op> deletions = new ArrayList<>(created.size());
        for (OpResult result : created) {
          tally.acquired(nanos);
          deletions.add(Op.delete(((CreateResult) result).getPath(), -1));
        }
        commit(
            deletions,
            deleted -> {
              deleted.forEach(one -> tally.released());
              create();
            });
      }

      private void commit(List<Op> writes, Consumer<List<OpResult>> next) {
        AtomicReference<List<OpResult>> answered = new AtomicReference<>(List.of());
        int events = seen.isPresent() ? directories.size() : 0;
        SeenWrites.Expected all =
            new SeenWrites.Expected(1 + events, () -> next.accept(answered.get()));
        seen.ifPresent(watch -> directories.forEach(directory -> watch.expect(directory, all)));
        MultiCallback answer =
            (code, path, context, results) -> {
              if (code == Code.OK.intValue()) {
                answered.set(results);
                all.happened();
              } else {
                tally.failed(KeeperException.create(Code.get(code)));
                working.countDown();
              }
            };
        connections.of(number).multi(writes, answer, this);
      }
    }
  }
}
