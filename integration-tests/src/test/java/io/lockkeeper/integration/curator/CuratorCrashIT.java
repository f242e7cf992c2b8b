package io.lockkeeper.integration.curator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.LockMode;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Processes of either side that are killed, with SIGKILL, while they hold or wait. */
final class CuratorCrashIT {

  private final Neighbourhood here = Neighbourhood.shared();

  @ParameterizedTest
  @EnumSource(names = {"MUTEX", "WRITE", "READ"})
  void lockOfAKilledCuratorPassesToOurWaiter(Recipe recipe) {
    // Given
    String lock = "crash-theirs-" + recipe;
    Asking ours;
    try (CuratorProcess doomed = here.startDoomedPeer()) {
      doomed.hand("holder").acquire(recipe, Neighbourhood.path(lock));
      ours = here.ask(lock, recipe == Recipe.READ ? LockMode.LOCK_MODE_WRITE : Party.mode(recipe));
      ours.await(EventCase.QUEUED);
      assertThat(ours.find(EventCase.GRANTED)).isEmpty();

      // When
      doomed.kill();
    }

    // Then
    ours.awaitGrant();
    ours.release();
  }

  @Test
  void killedCuratorThatWaitsIsPassedOver() {
    // Given
    Asking holder = here.ask("crash-waiter", LockMode.LOCK_MODE_EXCLUSIVE);
    holder.awaitGrant();
    Asking next;
    try (CuratorProcess doomed = here.startDoomedPeer()) {
      Party waiter =
          Party.theirs(doomed.hand("waiter"), Recipe.MUTEX, Neighbourhood.path("crash-waiter"));
      here.awaitEntries("crash-waiter", 2);
      next = here.ask("crash-waiter", LockMode.LOCK_MODE_EXCLUSIVE);
      next.await(EventCase.QUEUED);
      assertThat(waiter.isGranted()).isFalse();

      // When
      doomed.kill();
    }
    holder.release();

    // Then
    next.awaitGrant();
    next.release();
  }

  @ParameterizedTest
  @EnumSource(names = {"MUTEX", "READ"})
  void lockOfAKilledCoordinatorPassesToCuratorsWaiter(Recipe recipe) {
    // Given
    String lock = "crash-ours-" + recipe;
    String path = Neighbourhood.path(lock);
    Hand waiter = here.peer("billing").hand("crash");
    CompletableFuture<Boolean> granted;
    try (ServerProcess doomed = here.startDoomedServer()) {
      LockMode mode = recipe == Recipe.READ ? LockMode.LOCK_MODE_WRITE : Party.mode(recipe);
      Asking.with(doomed.connect(), Neighbourhood.request(lock, mode).build()).awaitGrant();
      granted = waiter.startAcquire(recipe, path);
      here.awaitEntries(lock, 2);
      assertThat(granted).isNotDone();

      // When
      doomed.kill();
    }

    // Then
    assertThat(CuratorProcess.join(granted, "grant")).isTrue();
    waiter.release(recipe, path);
  }

  @Test
  void waiterOfAKilledCoordinatorIsPassedOverByCurator() {
    // Given
    String path = Neighbourhood.path("crash-our-waiter");
    Hand holder = here.peer("billing").hand("crash-holder");
    Hand next = here.peer("shipping").hand("crash-next");
    holder.acquire(Recipe.MUTEX, path);
    CompletableFuture<Boolean> granted;
    try (ServerProcess doomed = here.startDoomedServer()) {
      Asking.forLock(doomed.connect(), "crash-our-waiter").await(EventCase.QUEUED);
      granted = next.startAcquire(Recipe.MUTEX, path);
      here.awaitEntries("crash-our-waiter", 3);

      // When
      doomed.kill();
    }
    holder.release(Recipe.MUTEX, path);

    // Then
    assertThat(CuratorProcess.join(granted, "grant")).isTrue();
    next.release(Recipe.MUTEX, path);
  }

  @Test
  void readersOfBothSidesSurviveTheCrashOfOneAndTheWriterWaitsForTheRest() {
    // Given
    String path = Neighbourhood.path("crash-readers");
    Asking ours = here.ask("crash-readers", LockMode.LOCK_MODE_READ);
    ours.awaitGrant();
    Party writer;
    try (CuratorProcess doomed = here.startDoomedPeer()) {
      doomed.hand("reader").acquire(Recipe.READ, path);
      writer = Party.theirs(here.peer("billing").hand("crash-writer"), Recipe.WRITE, path);
      here.awaitEntries("crash-readers", 3);

      // When
      doomed.kill();
    }
    here.awaitEntries("crash-readers", 2);

    // Then
    assertThat(writer.isGranted()).isFalse();
    assertThat(ours.find(EventCase.LOST)).isEmpty();
    ours.release();
    writer.awaitGrant();
    writer.release();
  }
}
