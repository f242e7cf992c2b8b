package io.lockkeeper.server.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.LoopCoordinator;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.CoordinatorObserver;
import io.lockkeeper.server.coordinator.api.CoordinatorSettings;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.AcquireCommand.WantedLock;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.StoreEvent.ReadEntry;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.testing.ZooKeeperProxy;
import io.lockkeeper.server.zookeeper.record.EntryData;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whole coordinators on a lock whose sequence numbers reach the end of ZooKeeper's counter. From
 * there on ZooKeeper hands out 2147483647 for ever, and negative numbers to those that share a
 * transaction with others.
 */
final class CounterEndIT {

  private static final LockName LOCK = new LockName("end");
  private static final String QUEUE = "/lk/locks/end";

  @TempDir Path directory;

  private final List<LoopCoordinator> coordinators = new ArrayList<>();
  private final List<ZooKeeperLockStore> stores = new ArrayList<>();
  private final List<FencingToken> granted = new CopyOnWriteArrayList<>();
  private final List<Wanting> wanting = new ArrayList<>();
  private InProcessZooKeeper server;
  private ZooKeeperProxy proxy;
  private ZooKeeper truth;

  @BeforeEach
  void start() throws Exception {
    server = new InProcessZooKeeper(directory);
    proxy = new ZooKeeperProxy(server.port());
    truth = new ZooKeeper("127.0.0.1:" + server.port(), 30_000, event -> {});
    for (String id : List.of("c1", "c2")) {
      ZooKeeperLockStore store =
          new ZooKeeperLockStore(Ensemble.standalone(proxy.connectString(), id), problem -> {});
      LoopCoordinator coordinator =
          new LoopCoordinator(
              store, CoordinatorSettings.defaults(), CoordinatorObserver.NONE, why -> {});
      stores.add(store);
      coordinators.add(coordinator);
      coordinator.start();
    }
    awaitServing();
  }

  @AfterEach
  void stop() throws Exception {
    for (int i = 0; i < coordinators.size(); i++) {
      coordinators.get(i).stop(Duration.ofSeconds(1));
      stores.get(i).stop();
    }
    truth.close();
    proxy.close();
    server.close();
  }

  private void awaitServing() {
    Awaitility.await("serving")
        .until(() -> coordinators.stream().allMatch(c -> c.status().serving()));
  }

  /** One request, which gives the lock back when it is told to. */
  private final class Wanting implements Coordinator.AcquisitionListener {
    private final Coordinator.Subscription subscription;
    private volatile Optional<FencingToken> token = Optional.empty();
    private volatile boolean placed;
    private volatile Optional<String> broken = Optional.empty();

    Wanting(Coordinator coordinator) {
      this(coordinator, Optional.empty(), "request");
    }

    /** One under a lease is of its owner {@code "task"}. */
    Wanting(Coordinator coordinator, Optional<LeaseId> lease, String requestId) {
      subscription = coordinator.acquire(command(lease, requestId), this);
    }

    private AcquireCommand command(Optional<LeaseId> lease, String requestId) {
      return new AcquireCommand(
          List.of(new WantedLock(LOCK, MutexKind.EXCLUSIVE)),
          lease,
          lease.isPresent() ? "task" : "",
          requestId,
          Optional.empty(),
          "tester",
          Map.of(),
          Optional.empty(),
          Optional.empty(),
          Duration.ZERO,
          false,
          List.of(),
          false);
    }

    @Override
    public void onNotice(String requestId, long epoch, long sequence, Notice notice) {
      placed = true;
      if (notice instanceof Notice.Granted grant) {
        FencingToken got = grant.grants().get(0).token();
        granted.add(got);
        token = Optional.of(got);
      } else if (notice.isFinal()) {
        broken = Optional.of(notice.toString());
      }
    }

    @Override
    public void onRefused(RefusedException why) {
      broken = Optional.of(why.toString());
    }

    @Override
    public void onSuperseded() {
      broken = Optional.of("superseded");
    }
  }

  private void want(int count) {
    List<Wanting> more = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      for (LoopCoordinator coordinator : coordinators) {
        more.add(new Wanting(coordinator));
      }
    }
    wanting.addAll(more);
    Awaitility.await("placed")
        .until(() -> more.stream().allMatch(w -> w.placed || w.broken.isPresent()));
    assertThat(more).extracting(w -> w.broken).containsOnly(Optional.empty());
  }

  /** Returns the tokens of all entries in the order of their creation. */
  private List<FencingToken> tokensInOrder() throws Exception {
    List<FencingToken> tokens = new ArrayList<>();
    for (String entry : truth.getChildren(QUEUE, false)) {
      Stat stat = new Stat();
      byte[] data = truth.getData(QUEUE + "/" + entry, false, stat);
      ReadEntry read = EntryData.read(data, stat.getCzxid());
      tokens.add(read.token());
    }
    tokens.sort(Comparator.comparingLong(FencingToken::value));
    return tokens;
  }

  private void cutAndAwaitRebuilds() {
    List<Long> before = rebuilds();
    proxy.cutAll();
    Awaitility.await("rebuilt")
        .until(
            () ->
                IntStream.range(0, stores.size()).allMatch(i -> rebuilds().get(i) > before.get(i)));
    awaitServing();
  }

  private List<Long> rebuilds() {
    return stores.stream().map(store -> store.stats().get("rebuilds")).toList();
  }

  private void giveBack(int count) {
    for (int i = 0; i < count; i++) {
      FencingToken current = granted.get(granted.size() - 1);
      int before = granted.size();
      wanting.stream()
          .filter(w -> w.token.equals(Optional.of(current)))
          .forEach(w -> w.subscription.close(false));
      Awaitility.await("next grant after " + before).until(() -> granted.size() == before + 1);
    }
  }

  @Test
  void ownerCannotHoldOnceMoreWhereTheCounterSticks() throws Exception {
    // Given
    truth.create(QUEUE, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER);
    server.setCounter(QUEUE, Integer.MAX_VALUE);
    Coordinator coordinator = coordinators.get(0);
    LeaseId lease =
        coordinator
            .openLease(Duration.ofMinutes(1), "owner", Optional.empty())
            .get(60, TimeUnit.SECONDS)
            .lease()
            .lease();
    Wanting first = new Wanting(coordinator, Optional.of(lease), "first");
    Awaitility.await("granted").until(() -> first.token.isPresent());
    // When
    Wanting second = new Wanting(coordinator, Optional.of(lease), "second");
    // Then
    Awaitility.await("refused").until(() -> second.broken.isPresent());
    assertThat(second.broken.orElseThrow()).contains("cannot be held once more", "at its end");
    assertThat(second.token).isEmpty();
    assertThat(first.broken).isEmpty();
    assertThat(truth.getChildren(QUEUE, false)).hasSize(1);
  }

  @Test
  void locksAreGrantedFirstComeFirstServedPastTheEndOfTheCounter() throws Exception {
    // Given
    truth.create(QUEUE, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER);
    server.setCounter(QUEUE, Integer.MAX_VALUE - 4);
    // When
    want(1);
    want(8);
    List<String> names = truth.getChildren(QUEUE, false);
    List<FencingToken> order = tokensInOrder();
    giveBack(5);
    cutAndAwaitRebuilds();
    want(8);
    List<FencingToken> later = tokensInOrder();
    giveBack(28);
    // Then
    List<FencingToken> expected = new ArrayList<>(order.subList(0, 5));
    expected.addAll(later);
    assertThat(names).anyMatch(name -> name.endsWith("-lock-2147483644"));
    assertThat(names).anyMatch(name -> name.endsWith("-lock-2147483647"));
    assertThat(names).anyMatch(name -> name.contains("-lock--214748364"));
    assertThat(names).allMatch(name -> EntryName.parse(name).isPresent());
    assertThat(granted)
        .isEqualTo(expected)
        .isSortedAccordingTo(Comparator.comparingLong(FencingToken::value));
    assertThat(granted).doesNotHaveDuplicates().hasSize(34);
    assertThat(wanting).allMatch(w -> w.broken.isEmpty());
  }
}
