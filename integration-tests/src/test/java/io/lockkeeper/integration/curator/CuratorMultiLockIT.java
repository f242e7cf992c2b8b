package io.lockkeeper.integration.curator;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.util.Durations;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.integration.harness.Unprotected;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.Granted;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.NotAcquiredReason;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * Curator's {@code InterProcessMultiLock} of mutexes, which takes one after the other, and our
 * requests for several locks, which queue for all of them at once.
 */
final class CuratorMultiLockIT {

  private static final int ROUNDS = 25;

  private final Neighbourhood here = Neighbourhood.shared();
  private final Hand billing = here.peer("billing").hand("multi");

  @Test
  void curatorsMultiLockExcludesOurSeveralLocks() {
    // Given
    String paths = paths("multi-theirs-a", "multi-theirs-b");
    billing.acquire(Recipe.MULTI, paths);

    // When
    Asking ours = ask(several("multi-theirs-b", "multi-theirs-a"));
    ours.await(EventCase.QUEUED);

    // Then
    assertThat(ours.find(EventCase.GRANTED)).isEmpty();
    assertThat(here.lock("multi-theirs-a").getHolders(0).getHolder()).isEqualTo("billing");
    assertThat(here.lock("multi-theirs-b").getHolders(0).getHolder()).isEqualTo("billing");
    billing.release(Recipe.MULTI, paths);
    ours.awaitGrant();
    ours.release();
  }

  @Test
  void ourSeveralLocksExcludeCuratorsMultiLockAndEachOfItsMutexes() {
    // Given
    Asking ours = ask(several("multi-ours-a", "multi-ours-b"));
    Granted grant = ours.awaitGrant();
    assertThat(grant.getGrantsCount()).isEqualTo(2);

    // When
    boolean both = tried(Recipe.MULTI, paths("multi-ours-a", "multi-ours-b"));
    boolean first = tried(Recipe.MUTEX, Neighbourhood.path("multi-ours-a"));
    boolean second = tried(Recipe.MUTEX, Neighbourhood.path("multi-ours-b"));

    // Then
    assertThat(List.of(both, first, second)).containsOnly(false);
    ours.release();
    billing.acquire(Recipe.MULTI, paths("multi-ours-a", "multi-ours-b"));
    billing.release(Recipe.MULTI, paths("multi-ours-a", "multi-ours-b"));
  }

  @Test
  void bothSidesTogetherLoseNoUpdateWhenOursHaveADeadline() {
    // Given
    Path directory = Scratch.directory("curator-multi");
    Unprotected shared = Unprotected.in(directory);
    String paths = paths("multi-load-a", "multi-load-b");
    List<CompletableFuture<?>> all = new ArrayList<>();

    // When
    for (String name : List.of("billing", "shipping")) {
      all.add(here.peer(name).hand("multi-load").startWork(Recipe.MULTI, paths, ROUNDS, directory));
    }
    all.add(CompletableFuture.runAsync(() -> work(shared)));
    all.forEach(work -> CuratorProcess.join(work, "end of the work"));

    // Then
    assertThat(shared.counter()).isEqualTo(3 * ROUNDS);
    assertThat(here.znodes().countEntries("multi-load-")).isZero();
  }

  private void work(Unprotected shared) {
    for (int done = 0; done < ROUNDS; ) {
      Asking asking = ask(withDeadline(several("multi-load-b", "multi-load-a"), 80));
      if (asking.awaitEither(EventCase.GRANTED, EventCase.NOT_ACQUIRED) == EventCase.GRANTED) {
        shared.work(asking.awaitToken(), "ours");
        asking.release();
        done++;
      }
    }
  }

  /**
   * Curator holds the first mutex and has not asked for the second when we queue for both: we are
   * ahead of it in the second queue and behind it in the first. Nobody sees that the two nodes are
   * of one thread; the deadline is what ends it.
   */
  @Test
  void deadlineEndsTheStandoffWithALockThatIsTakenOneByOne() {
    // Given
    billing.acquire(Recipe.MUTEX, Neighbourhood.path("multi-stand-a"));
    Asking ours = ask(withDeadline(several("multi-stand-a", "multi-stand-b"), 5_000));
    ours.await(EventCase.QUEUED);

    // When
    Party second = Party.theirs(billing, Recipe.MUTEX, Neighbourhood.path("multi-stand-b"));
    here.awaitEntries("multi-stand-b", 2);

    // Then
    assertThat(ours.await(EventCase.NOT_ACQUIRED).value().getNotAcquired().getReason())
        .isEqualTo(NotAcquiredReason.NOT_ACQUIRED_REASON_TIMED_OUT);
    second.awaitGrant();
    second.release();
    billing.release(Recipe.MUTEX, Neighbourhood.path("multi-stand-a"));
    here.awaitEntries("multi-stand-a", 0);
    here.awaitEntries("multi-stand-b", 0);
  }

  private boolean tried(Recipe recipe, String path) {
    return CuratorProcess.join(billing.tryAcquire(recipe, path, Duration.ofMillis(300)), "answer");
  }

  private Asking ask(AcquireRequest request) {
    return Asking.with(here.channel(), request);
  }

  private static AcquireRequest withDeadline(AcquireRequest request, long millis) {
    return request.toBuilder().setWaitTimeout(Durations.fromMillis(millis)).build();
  }

  private static AcquireRequest several(String... locks) {
    AcquireRequest.Builder request = AcquireRequest.newBuilder();
    for (String lock : locks) {
      request.addLocks(
          LockRequest.newBuilder().setName(lock).setMode(LockMode.LOCK_MODE_EXCLUSIVE));
    }
    return request.build();
  }

  private static String paths(String first, String second) {
    return Neighbourhood.path(first) + "," + Neighbourhood.path(second);
  }
}
