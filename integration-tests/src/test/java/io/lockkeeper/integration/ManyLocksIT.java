package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.util.Durations;
import io.grpc.ManagedChannel;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Inside;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.Znodes;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.CloseLeaseRequest;
import io.lockkeeper.v1.Grant;
import io.lockkeeper.v1.Granted;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.NotAcquiredReason;
import io.lockkeeper.v1.OpenLeaseRequest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Sixteen clients request one to four of eight locks at a time, in any order and mode: no client is
 * ever stuck, and no two clients that exclude each other are ever inside one lock.
 */
@Tag("smoke")
final class ManyLocksIT {

  private static final int CLIENTS = 16;
  private static final int LOCKS = 8;
  private static final int LONGEST_HOLD_MICROS = 3_000;
  private static final long SEED = 20_260_705;

  /** The requests of each client. */
  private static final int REQUESTS = Integer.getInteger("lockkeeper.many-locks.requests", 100);

  private final Rig rig = Rig.shared();
  private final Inside inside = new Inside();
  private final List<ManagedChannel> channels =
      List.of(rig.connect(), rig.connect(), rig.connect(), rig.connect());

  @Test
  void nobodyIsEverStuckOrInsideBesideAnotherInWhateverOrderLocksAreNamed() throws Exception {
    // Given
    ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
    List<Future<Tally>> clients = new ArrayList<>();

    // When
    for (int i = 0; i < CLIENTS; i++) {
      Client client = new Client(channels.get(i % channels.size()), new Random(SEED + i));
      clients.add(threads.submit(() -> client.work()));
    }
    List<Tally> tallies = new ArrayList<>();
    for (Future<Tally> client : clients) {
      tallies.add(client.get(4, TimeUnit.MINUTES));
    }
    threads.shutdown();

    // Then
    System.out.println("many locks, seed " + SEED + ": " + tallies);
    assertThat(tallies)
        .allSatisfy(
            tally -> {
              assertThat(tally.single()).as("grants of one lock").isPositive();
              assertThat(tally.several()).as("grants of several").isPositive();
            });
    try (Znodes znodes = Znodes.at(rig.zookeeper().connectString())) {
      Awaitility.await().until(() -> znodes.countEntries("many/") == 0);
    }
  }

  /**
   * What one client did.
   *
   * @param single grants of one lock
   * @param several grants of several locks
   * @param timedOut requests that waited no longer
   */
  private record Tally(int single, int several, int timedOut) {}

  /** One client with a lease of its own, which wants one thing at a time. */
  private final class Client {

    private final ManagedChannel channel;
    private final Random random;
    private final String lease;
    private int single;
    private int several;
    private int timedOut;

    Client(ManagedChannel channel, Random random) {
      this.channel = channel;
      this.random = random;
      lease =
          LeaseServiceGrpc.newBlockingStub(channel)
              .openLease(OpenLeaseRequest.newBuilder().setTtl(Durations.fromMinutes(30)).build())
              .getLeaseId();
    }

    Tally work() {
      for (int i = 0; i < REQUESTS; i++) {
        work(request());
      }
      LeaseServiceGrpc.newBlockingStub(channel)
          .closeLease(CloseLeaseRequest.newBuilder().setLeaseId(lease).build());
      return new Tally(single, several, timedOut);
    }

    private AcquireRequest request() {
      List<Integer> numbers = new ArrayList<>();
      for (int i = 0; i < LOCKS; i++) {
        numbers.add(i);
      }
      Collections.shuffle(numbers, random);
      AcquireRequest.Builder request = AcquireRequest.newBuilder().setLeaseId(lease);
      int count = random.nextInt(3) == 0 ? 1 : 2 + random.nextInt(3);
      numbers.subList(0, count).forEach(number -> request.addLocks(lock(number)));
      int patience = random.nextInt(10);
      if (patience < 3) {
        request.setWaitTimeout(Durations.fromMillis(patience * 10L));
      }
      return request.build();
    }

    private LockRequest lock(int number) {
      LockRequest.Builder lock = LockRequest.newBuilder().setName("many/" + number);
      if (number % 2 == 0) {
        return lock.setMode(LockMode.LOCK_MODE_EXCLUSIVE).build();
      }
      boolean writes = random.nextInt(3) == 0;
      return lock.setMode(writes ? LockMode.LOCK_MODE_WRITE : LockMode.LOCK_MODE_READ).build();
    }

    private void work(AcquireRequest request) {
      Asking asking = Asking.with(channel, request);
      if (asking.awaitEither(EventCase.GRANTED, EventCase.NOT_ACQUIRED) == EventCase.GRANTED) {
        use(request, asking);
      } else {
        assertThat(asking.await(EventCase.NOT_ACQUIRED).value().getNotAcquired().getReason())
            .isEqualTo(NotAcquiredReason.NOT_ACQUIRED_REASON_TIMED_OUT);
        timedOut++;
      }
    }

    private void use(AcquireRequest request, Asking asking) {
      Granted granted = asking.awaitGrant();
      assertThat(granted.getGrantsList())
          .extracting(Grant::getName)
          .isEqualTo(request.getLocksList().stream().map(LockRequest::getName).toList());
      for (int i = 0; i < request.getLocksCount(); i++) {
        LockRequest lock = request.getLocks(i);
        inside.enter(lock.getName(), isShared(lock), granted.getGrants(i).getFencingToken());
      }
      LockSupport.parkNanos(1_000L * random.nextInt(LONGEST_HOLD_MICROS));
      request.getLocksList().forEach(lock -> inside.leave(lock.getName(), isShared(lock)));
      asking.release();
      if (request.getLocksCount() == 1) {
        single++;
      } else {
        several++;
      }
    }

    private static boolean isShared(LockRequest lock) {
      return lock.getMode() == LockMode.LOCK_MODE_READ;
    }
  }
}
