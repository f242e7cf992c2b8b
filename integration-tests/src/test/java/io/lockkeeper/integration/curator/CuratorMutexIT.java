package io.lockkeeper.integration.curator;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.util.Durations;
import io.grpc.Channel;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.integration.harness.Unprotected;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockState;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Curator's {@code InterProcessMutex} in other processes, and clients of ours, on one lock. */
@Tag("smoke")
final class CuratorMutexIT {

  private static final int ROUNDS = 40;

  private final Neighbourhood here = Neighbourhood.shared();

  @Test
  void processesOfBothSidesTogetherLoseNoUpdate() {
    // Given
    Path directory = Scratch.directory("curator-mutex");
    Unprotected shared = Unprotected.in(directory);
    List<CompletableFuture<?>> all = new ArrayList<>();

    // When
    for (String name : List.of("billing", "shipping")) {
      Hand hand = here.peer(name).hand("load");
      all.add(hand.startWork(Recipe.MUTEX, Neighbourhood.path("counter"), ROUNDS, directory));
    }
    for (int i = 0; i < 2; i++) {
      all.add(CompletableFuture.runAsync(() -> work(here.channel(), "counter", shared)));
    }
    all.forEach(work -> CuratorProcess.join(work, "end of the work"));

    // Then
    assertThat(shared.counter()).isEqualTo(4 * ROUNDS);
    assertThat(shared.clients()).containsExactlyInAnyOrder("curator", "ours");
    assertThat(shared.tokens().stream().filter(token -> token != 0))
        .isSorted()
        .doesNotHaveDuplicates();
    assertThat(here.znodes().entries("counter")).isEmpty();
  }

  static void work(Channel channel, String lock, Unprotected shared) {
    for (int i = 0; i < ROUNDS; i++) {
      Asking asking = Asking.forLock(channel, lock);
      shared.work(asking.awaitToken(), "ours");
      asking.release();
    }
  }

  @Test
  void mixedQueueIsGrantedInTheOrderOfItsNodes() {
    // Given
    String path = Neighbourhood.path("order");
    Random random = new Random(17);
    List<Party> queue = new ArrayList<>();
    for (int i = 0; i < 14; i++) {
      // Who begins holds; one after the other is let into the queue.
      boolean ours = i < 2 ? i == 1 : random.nextBoolean();
      queue.add(
          ours
              ? Party.ours(here.ask("order", LockMode.LOCK_MODE_EXCLUSIVE))
              : Party.theirs(here.peer("billing").hand("order-" + i), Recipe.MUTEX, path));
      here.awaitEntries("order", i + 1);
    }

    // When
    for (int i = 0; i < queue.size(); i++) {
      queue.get(i).awaitGrant();

      // Then
      assertThat(queue.subList(i + 1, queue.size())).noneMatch(Party::isGranted);
      queue.get(i).release();
    }
    assertThat(here.znodes().entries("order")).isEmpty();
  }

  @Test
  void curatorSeesOurEntriesAmongItsParticipants() {
    // Given
    String path = Neighbourhood.path("seen-by-curator");
    Hand theirs = here.peer("billing").hand("sees");
    Asking holder =
        Asking.with(
            here.channel(),
            Neighbourhood.request("seen-by-curator", LockMode.LOCK_MODE_EXCLUSIVE)
                .setHolder("nightly report")
                .build());
    holder.awaitGrant();
    CompletableFuture<Boolean> waiting = theirs.startAcquire(Recipe.MUTEX, path);
    here.awaitEntries("seen-by-curator", 2);

    // When
    Hand observer = here.peer("shipping").hand("observer");
    List<String> nodes = observer.participants(Recipe.MUTEX, path);

    // Then
    LockState lock = here.lock("seen-by-curator");
    assertThat(nodes)
        .containsExactly(
            path + "/" + lock.getHolders(0).getEntry(), path + "/" + lock.getQueue(0).getEntry());
    assertThat(observer.data(nodes.get(0))).contains("nightly report");
    assertThat(observer.data(nodes.get(1))).isEqualTo("billing");
    holder.release();
    assertThat(CuratorProcess.join(waiting, "grant")).isTrue();
    theirs.release(Recipe.MUTEX, path);
  }

  @Test
  void curatorsEntriesAreShownAsHolderAndInTheQueue() {
    // Given
    String path = Neighbourhood.path("seen-by-us");
    Hand holder = here.peer("billing").hand("seen");
    Hand second = here.peer("shipping").hand("seen");
    holder.acquire(Recipe.MUTEX, path);
    CompletableFuture<Boolean> waiting = second.startAcquire(Recipe.MUTEX, path);
    here.awaitEntries("seen-by-us", 2);

    // When
    Asking ours = here.ask("seen-by-us", LockMode.LOCK_MODE_EXCLUSIVE);
    Contender told = ours.awaitHolder();
    LockState lock = here.lock("seen-by-us");

    // Then
    assertThat(told.getMode()).isEqualTo(LockMode.LOCK_MODE_EXCLUSIVE);
    Contender shown = lock.getHolders(0);
    assertThat(shown.getHolder()).isEqualTo("billing");
    assertThat(shown.getMode()).isEqualTo(LockMode.LOCK_MODE_EXCLUSIVE);
    assertThat(shown.getLeaseTag()).as("not a lease of ours").isEmpty();
    assertThat(shown.getFencingToken()).isPositive();
    assertThat(lock.getQueueLength()).isEqualTo(2);
    assertThat(lock.getQueue(0).getHolder()).isEqualTo("shipping");
    holder.release(Recipe.MUTEX, path);
    assertThat(CuratorProcess.join(waiting, "grant")).isTrue();
    second.release(Recipe.MUTEX, path);
    ours.awaitGrant();
    ours.release();
  }

  @Test
  void waitThatTimesOutOnEitherSideLeavesTheQueueOfTheOther() {
    // Given
    String path = Neighbourhood.path("timeout");
    Hand theirs = here.peer("billing").hand("timeout");
    Asking holder = here.ask("timeout", LockMode.LOCK_MODE_EXCLUSIVE);
    holder.awaitGrant();

    // When
    CompletableFuture<Boolean> impatient =
        theirs.tryAcquire(Recipe.MUTEX, path, Duration.ofMillis(200));
    boolean granted = CuratorProcess.join(impatient, "answer");
    here.awaitEntries("timeout", 1);
    holder.release();
    theirs.acquire(Recipe.MUTEX, path);
    Asking ours =
        Asking.with(
            here.channel(),
            Neighbourhood.request("timeout", LockMode.LOCK_MODE_EXCLUSIVE)
                .setWaitTimeout(Durations.fromMillis(200))
                .build());

    // Then
    assertThat(granted).isFalse();
    ours.await(EventCase.NOT_ACQUIRED);
    here.awaitEntries("timeout", 1);
    theirs.release(Recipe.MUTEX, path);
    here.awaitEntries("timeout", 0);
  }

  @Test
  void curatorsReentryHoldsUntilItsLastRelease() {
    // Given
    String path = Neighbourhood.path("reentry");
    Hand theirs = here.peer("billing").hand("reentry");
    theirs.acquire(Recipe.MUTEX, path);
    Party ours = Party.ours(here.ask("reentry", LockMode.LOCK_MODE_EXCLUSIVE));
    here.awaitEntries("reentry", 2);

    // When
    theirs.acquire(Recipe.MUTEX, path);
    theirs.release(Recipe.MUTEX, path);

    // Then
    assertThat(here.lock("reentry").getHolders(0).getHolder()).isEqualTo("billing");
    assertThat(ours.isGranted()).isFalse();
    theirs.release(Recipe.MUTEX, path);
    ours.awaitGrant();
    ours.release();
  }
}
