package io.lockkeeper.integration.curator;

import static io.lockkeeper.v1.LockMode.LOCK_MODE_READ;
import static io.lockkeeper.v1.LockMode.LOCK_MODE_WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.integration.harness.SessionStream;
import io.lockkeeper.integration.harness.Unprotected;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockState;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Curator's {@code InterProcessReadWriteLock} in other processes, and clients of ours. */
final class CuratorReadWriteIT {

  private static final int ROUNDS = 25;
  private static final Duration TTL = Duration.ofSeconds(30);

  private final Neighbourhood here = Neighbourhood.shared();
  private final Hand billing = here.peer("billing").hand("read-write");
  private final Hand shipping = here.peer("shipping").hand("read-write");

  @Test
  void readersOfBothSidesHoldTogether() {
    // Given
    String path = Neighbourhood.path("rw-shared");
    billing.acquire(Recipe.READ, path);

    // When
    Asking ours = here.ask("rw-shared", LOCK_MODE_READ);
    ours.awaitGrant();
    shipping.acquire(Recipe.READ, path);

    // Then
    LockState lock = here.lock("rw-shared");
    assertThat(lock.getHoldersList()).extracting(Contender::getMode).containsOnly(LOCK_MODE_READ);
    assertThat(lock.getHoldersList())
        .extracting(Contender::getHolder)
        .hasSize(3)
        .startsWith("billing")
        .endsWith("shipping");
    assertThat(billing.participants(Recipe.READ, path)).hasSize(3);
    billing.release(Recipe.READ, path);
    shipping.release(Recipe.READ, path);
    ours.release();
  }

  @ParameterizedTest
  @EnumSource(names = {"READ", "WRITE"})
  void ourWriterKeepsCuratorOut(Recipe recipe) {
    // Given
    String lock = "rw-our-writer-" + recipe;
    Asking ours = here.ask(lock, LOCK_MODE_WRITE);
    ours.awaitGrant();

    // When
    boolean granted = triedToAcquire(recipe, lock);

    // Then
    assertThat(granted).isFalse();
    ours.release();
    billing.acquire(recipe, Neighbourhood.path(lock));
    billing.release(recipe, Neighbourhood.path(lock));
  }

  @ParameterizedTest
  @EnumSource(names = {"READ", "WRITE"})
  void curatorsWriterKeepsUsOut(Recipe recipe) {
    // Given
    String lock = "rw-their-writer-" + recipe;
    String path = Neighbourhood.path(lock);
    billing.acquire(Recipe.WRITE, path);

    // When
    Asking ours = here.ask(lock, Party.mode(recipe));
    Contender holder = ours.awaitHolder();

    // Then
    assertThat(holder.getMode()).isEqualTo(LOCK_MODE_WRITE);
    assertThat(ours.find(EventCase.GRANTED)).isEmpty();
    billing.release(Recipe.WRITE, path);
    ours.awaitGrant();
    ours.release();
  }

  @Test
  void readerBehindAWaitingWriterOfTheOtherSideWaits() {
    // Given
    String path = Neighbourhood.path("rw-starve");
    Party reader = Party.ours(here.ask("rw-starve", LOCK_MODE_READ));
    reader.awaitGrant();
    Party writer = Party.theirs(billing, Recipe.WRITE, path);
    here.awaitEntries("rw-starve", 2);

    // When
    Asking second = here.ask("rw-starve", LOCK_MODE_READ);
    second.await(EventCase.QUEUED);
    Party third = Party.theirs(shipping, Recipe.READ, path);
    here.awaitEntries("rw-starve", 4);

    // Then
    reader.release();
    writer.awaitGrant();
    assertThat(second.find(EventCase.GRANTED)).isEmpty();
    assertThat(third.isGranted()).isFalse();
    writer.release();
    second.awaitGrant();
    third.awaitGrant();
    second.release();
    third.release();
  }

  @Test
  void mixedQueueOfReadersAndWritersIsGrantedInTheOrderOfItsNodes() {
    // Given: the batches that hold together, by the order of the queue
    List<List<Recipe>> batches =
        List.of(
            List.of(Recipe.WRITE),
            List.of(Recipe.READ, Recipe.READ, Recipe.READ),
            List.of(Recipe.WRITE),
            List.of(Recipe.WRITE),
            List.of(Recipe.READ, Recipe.READ));
    List<List<Party>> queue = new ArrayList<>();
    int entries = 0;
    for (List<Recipe> batch : batches) {
      List<Party> parties = new ArrayList<>();
      for (Recipe recipe : batch) {
        parties.add(queued("rw-order", recipe, entries));
        here.awaitEntries("rw-order", ++entries);
      }
      queue.add(parties);
    }

    // When
    for (int i = 0; i < queue.size(); i++) {
      queue.get(i).forEach(Party::awaitGrant);

      // Then
      assertThat(queue.subList(i + 1, queue.size()))
          .allSatisfy(later -> assertThat(later).noneMatch(Party::isGranted));
      queue.get(i).forEach(Party::release);
    }
    assertThat(here.znodes().entries("rw-order")).isEmpty();
  }

  private Party queued(String lock, Recipe recipe, int place) {
    return place % 2 == 0
        ? Party.ours(here.ask(lock, Party.mode(recipe)))
        : Party.theirs(here.peer("billing").hand("rw-" + place), recipe, Neighbourhood.path(lock));
  }

  @Test
  void curatorsDowngradeKeepsOurWaitingWriterOut() {
    // Given
    String path = Neighbourhood.path("rw-their-downgrade");
    billing.acquire(Recipe.WRITE, path);
    Asking writer = here.ask("rw-their-downgrade", LOCK_MODE_WRITE);
    writer.await(EventCase.QUEUED);

    // When
    billing.acquire(Recipe.READ, path);
    billing.release(Recipe.WRITE, path);

    // Then
    Asking reader = here.ask("rw-their-downgrade", LOCK_MODE_READ);
    reader.await(EventCase.QUEUED);
    LockState lock = here.lock("rw-their-downgrade");
    assertThat(lock.getHoldersList())
        .extracting(Contender::getMode)
        .containsExactly(LOCK_MODE_READ);
    assertThat(lock.getHolders(0).getHolder()).isEqualTo("billing");
    assertThat(writer.find(EventCase.GRANTED)).isEmpty();
    billing.release(Recipe.READ, path);
    writer.awaitGrant();
    writer.release();
    reader.awaitGrant();
    reader.release();
  }

  @Test
  void ourDowngradeKeepsCuratorsWaitingWriterOut() {
    // Given
    String lock = "rw-our-downgrade";
    SessionStream session = SessionStream.open(here.channel(), TTL);
    session.awaitOpened();
    acquireAs(session, lock, LOCK_MODE_WRITE, "write");
    Party writer = Party.theirs(billing, Recipe.WRITE, Neighbourhood.path(lock));
    here.awaitEntries(lock, 2);

    // When
    acquireAs(session, lock, LOCK_MODE_READ, "read");
    session.release("write");
    session.await("release of the write lock", response -> response.hasReleased());

    // Then
    List<String> readers = shipping.participants(Recipe.READ, Neighbourhood.path(lock));
    assertThat(readers).hasSize(1);
    assertThat(shipping.participants(Recipe.WRITE, Neighbourhood.path(lock)).get(0))
        .as("the reader stands where the writer stood, before the one who waits")
        .matches(waiting -> sequence(waiting) > sequence(readers.get(0)));
    assertThat(triedToAcquire(shipping, Recipe.WRITE, lock)).isFalse();
    assertThat(writer.isGranted()).isFalse();
    session.release("read");
    writer.awaitGrant();
    writer.release();
    session.close();
  }

  private static void acquireAs(
      SessionStream session, String lock, LockMode mode, String requestId) {
    session.acquire(
        Neighbourhood.request(lock, mode).setRequestId(requestId).setOwner("one task").build());
    session.await(requestId, EventCase.GRANTED);
  }

  private static int sequence(String node) {
    return Integer.parseInt(node.substring(node.length() - 10));
  }

  @Test
  void readersAndWritersOfBothSidesLoseNoUpdateAndSeeNone() {
    // Given
    Path directory = Scratch.directory("curator-read-write");
    Unprotected shared = Unprotected.in(directory);
    String path = Neighbourhood.path("rw-load");
    List<CompletableFuture<?>> all = new ArrayList<>();

    // When
    for (String name : List.of("billing", "shipping")) {
      CuratorProcess peer = here.peer(name);
      all.add(peer.hand("rw-write").startWork(Recipe.WRITE, path, ROUNDS, directory));
      all.add(peer.hand("rw-read").startWork(Recipe.READ, path, ROUNDS, directory));
    }
    for (LockMode mode : List.of(LOCK_MODE_WRITE, LOCK_MODE_READ, LOCK_MODE_READ)) {
      all.add(CompletableFuture.runAsync(() -> work(mode, shared)));
    }
    all.forEach(work -> CuratorProcess.join(work, "end of the work"));

    // Then
    assertThat(shared.counter()).isEqualTo(3 * ROUNDS);
    assertThat(shared.tokens().stream().filter(token -> token != 0))
        .isSorted()
        .doesNotHaveDuplicates();
    assertThat(here.znodes().entries("rw-load")).isEmpty();
  }

  private void work(LockMode mode, Unprotected shared) {
    for (int i = 0; i < ROUNDS; i++) {
      Asking asking = here.ask("rw-load", mode);
      long token = asking.awaitToken();
      if (mode == LOCK_MODE_WRITE) {
        shared.work(token, "ours");
      } else {
        shared.look();
      }
      asking.release();
    }
  }

  private boolean triedToAcquire(Recipe recipe, String lock) {
    return triedToAcquire(billing, recipe, lock);
  }

  /** Lets Curator wait for a moment: long enough to be granted what is free. */
  private static boolean triedToAcquire(Hand hand, Recipe recipe, String lock) {
    return CuratorProcess.join(
        hand.tryAcquire(recipe, Neighbourhood.path(lock), Duration.ofMillis(400)), "answer");
  }
}
