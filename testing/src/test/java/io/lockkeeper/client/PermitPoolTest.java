package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.client.internal.views.PermitPool;
import io.lockkeeper.testing.InMemoryLockkeeper;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which grants go back when a number of permits is released. */
class PermitPoolTest {

  private InMemoryLockkeeper server;
  private LockkeeperClient client;
  private final PermitPool pool = new PermitPool("printers");

  @BeforeEach
  void start() {
    server = InMemoryLockkeeper.start();
    client = server.clientBuilder().build();
  }

  @AfterEach
  void stop() {
    client.close();
    server.close();
  }

  private LockHandle take(int permits) throws InterruptedException {
    LockHandle handle =
        client.lock(LockRequest.of(LockSpec.permits("printers", permits, 1_000_000)));
    pool.add(handle, permits);
    return handle;
  }

  @Test
  void grantOfThatSizeGoesBackTheNewestFirst() throws InterruptedException {
    // Given
    LockHandle older = take(2);
    take(1);
    LockHandle newer = take(2);
    take(1);
    // When
    List<LockHandle> first = pool.remove(2);
    List<LockHandle> second = pool.remove(2);
    // Then
    assertThat(first).containsExactly(newer);
    assertThat(second).containsExactly(older);
  }

  @Test
  void grantsOfTheCallingThreadGoBackBeforeThoseOfOthers() throws InterruptedException {
    // Given
    LockHandle mine = take(1);
    Optional<Throwable> thrown = LockContract.inAnotherThread(() -> take(1));
    // When
    List<LockHandle> removed = pool.remove(1);
    // Then
    assertThat(thrown).isEmpty();
    assertThat(removed).containsExactly(mine);
    assertThat(pool.remove(1)).hasSize(1).doesNotContain(mine);
  }

  @Test
  void grantsAreFoundWheneverSomeAddUp() throws InterruptedException {
    // Given
    long seed = 20_260_101L;
    Random random = new Random(seed);
    for (int run = 0; run < 100; run++) {
      List<Integer> sizes = new ArrayList<>();
      for (int i = 0; i < 1 + random.nextInt(6); i++) {
        sizes.add(1 + random.nextInt(7));
        take(sizes.get(i));
      }
      int wanted = 1 + random.nextInt(sizes.stream().mapToInt(Integer::intValue).sum());
      // When
      int removed = removed(wanted);
      // Then
      boolean possible = addsUp(sizes, 0, wanted);
      assertThat(removed)
          .as("seed %d, run %d: %d of %s", seed, run, wanted, sizes)
          .isEqualTo(possible ? wanted : 0);
      int rest = sizes.stream().mapToInt(Integer::intValue).sum() - removed;
      if (rest > 0) {
        pool.remove(rest);
      }
    }
  }

  private int removed(int wanted) {
    try {
      pool.remove(wanted);
      return wanted;
    } catch (IllegalStateException e) {
      return 0;
    }
  }

  private static boolean addsUp(List<Integer> sizes, int from, int rest) {
    if (rest <= 0 || from == sizes.size()) {
      return rest == 0;
    }
    return addsUp(sizes, from + 1, rest) || addsUp(sizes, from + 1, rest - sizes.get(from));
  }
}
