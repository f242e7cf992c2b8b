package io.lockkeeper.integration.curator;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.ListLocksRequest;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.LockState;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/**
 * The steps of {@code docs/migrate/from-curator.md}, each by itself; {@link CuratorDrillIT} takes
 * them one after the other.
 */
final class CuratorMigrationIT {

  private final Neighbourhood here = Neighbourhood.shared();

  @Test
  void coordinatorThatJoinsShowsWhatCuratorHoldsAndDisturbsNothing() {
    // Given
    String path = Neighbourhood.path("migration-join");
    Hand holder = here.peer("billing").hand("migration");
    holder.acquire(Recipe.MUTEX, path);
    Party waiter = Party.theirs(here.peer("shipping").hand("migration"), Recipe.MUTEX, path);
    here.awaitEntries("migration-join", 2);
    List<String> before = here.znodes().entries("migration-join");

    // When
    try (ServerProcess joining = here.startDoomedServer()) {
      LockState lock = lock(joining.connect(), "migration-join");

      // Then
      assertThat(lock.getHoldersList()).extracting(Contender::getHolder).containsExactly("billing");
      assertThat(lock.getQueueList()).extracting(Contender::getHolder).containsExactly("shipping");
      assertThat(here.znodes().entries("migration-join")).hasSameElementsAs(before);
      assertThat(waiter.isGranted()).isFalse();
    }
    holder.release(Recipe.MUTEX, path);
    waiter.awaitGrant();
    waiter.release();
  }

  @Test
  void placesInTheQueueAreKeptWhenAProcessMovesBehindThem() {
    // Given: a process that has moved queues behind those that have not
    String path = Neighbourhood.path("migration-places");
    Hand billing = here.peer("billing").hand("migration-places");
    billing.acquire(Recipe.MUTEX, path);
    Party second = Party.theirs(here.peer("shipping").hand("places"), Recipe.MUTEX, path);
    here.awaitEntries("migration-places", 2);
    Asking moved = here.ask("migration-places", LockMode.LOCK_MODE_EXCLUSIVE);
    moved.await(EventCase.QUEUED);

    // When
    billing.release(Recipe.MUTEX, path);

    // Then
    second.awaitGrant();
    assertThat(moved.find(EventCase.GRANTED)).isEmpty();
    second.release();
    moved.awaitGrant();
    moved.release();
  }

  @Test
  void contendersWithoutALeaseTagAreThoseThatHaveNotMoved() {
    // Given
    String path = Neighbourhood.path("migration-check");
    Hand billing = here.peer("billing").hand("migration-check");
    billing.acquire(Recipe.MUTEX, path);
    Asking moved = here.ask("migration-check", LockMode.LOCK_MODE_EXCLUSIVE);
    moved.await(EventCase.QUEUED);
    assertThat(unmoved("migration-check")).containsExactly("billing");

    // When
    billing.release(Recipe.MUTEX, path);
    moved.awaitGrant();

    // Then
    assertThat(unmoved("migration-check")).isEmpty();
    assertThat(here.lock("migration-check").getHolders(0).getLeaseTag()).isNotEmpty();
    moved.release();
    Awaitility.await()
        .until(
            () ->
                here.stub()
                        .listLocks(
                            ListLocksRequest.newBuilder().setPrefix("migration-check").build())
                        .getLocksCount()
                    == 0);
  }

  private List<String> unmoved(String name) {
    LockState lock = here.lock(name);
    return Stream.concat(lock.getHoldersList().stream(), lock.getQueueList().stream())
        .filter(contender -> contender.getLeaseTag().isEmpty())
        .map(Contender::getHolder)
        .toList();
  }

  @Test
  void nameWithASlashIsOneDirectoryWhoseNameIsEncoded() {
    // Given
    String path = Neighbourhood.LOCKS + "/orders%2F42";
    Hand billing = here.peer("billing").hand("migration-names");
    billing.acquire(Recipe.MUTEX, path);

    // When
    Asking ours = here.ask("orders/42", LockMode.LOCK_MODE_EXCLUSIVE);
    ours.await(EventCase.QUEUED);

    // Then
    assertThat(ours.find(EventCase.GRANTED)).isEmpty();
    billing.release(Recipe.MUTEX, path);
    ours.awaitGrant();
    ours.release();
  }

  private static LockState lock(ManagedChannel channel, String name) {
    return LockServiceGrpc.newBlockingStub(channel)
        .getLock(GetLockRequest.newBuilder().setName(name).build())
        .getLock();
  }
}
