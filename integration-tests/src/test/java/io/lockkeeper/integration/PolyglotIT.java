package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.integration.harness.Grpcurl;
import io.lockkeeper.integration.harness.Polyglot;
import io.lockkeeper.integration.harness.Polyglot.Running;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.integration.harness.Unprotected;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients of five kinds on one lock, with nothing but the lock between them and a lost update. */
final class PolyglotIT {

  private static final int ITERATIONS = 40;
  private static final int GRPCURL_ITERATIONS = 8;

  private final Rig rig = Rig.shared();

  @ParameterizedTest
  @ValueSource(strings = {"stream", "session"})
  void clientsInEveryLanguageExcludeEachOther(String mode) throws InterruptedException {
    // Given
    String lock = "polyglot/" + mode;
    Unprotected shared = Unprotected.in(Scratch.directory("polyglot"));
    List<Running> programs = new ArrayList<>();
    for (Polyglot program : List.of(Polyglot.PYTHON, Polyglot.GO, Polyglot.NODE)) {
      if (program.isInstalled()) {
        programs.add(program.start(arguments(mode, lock, shared)));
      }
    }
    programs.forEach(Running::awaitReady);

    // When
    programs.forEach(Running::go);
    CompletableFuture<Integer> grpcurl = CompletableFuture.supplyAsync(() -> grpcurl(lock, shared));
    int expected = java(lock, shared) + grpcurl.join();
    for (Running program : programs) {
      assertThat(program.awaitExit()).as(program::said).isZero();
      expected += ITERATIONS;
    }

    // Then
    assertThat(shared.counter()).isEqualTo(expected);
    assertThat(shared.tokens()).hasSize(expected).isSorted().doesNotHaveDuplicates();
    assertThat(shared.clients()).hasSizeGreaterThanOrEqualTo(1 + programs.size());
  }

  @Test
  void tokensAreNotRoundedInJavaScript() {
    // Given
    Polyglot.NODE.assumeInstalled();
    // When
    Running program = Polyglot.NODE.start("tokens");
    // Then
    assertThat(program.awaitExit()).as(program::said).isZero();
  }

  private String[] arguments(String mode, String lock, Unprotected shared) {
    return new String[] {
      rig.server().address(),
      mode,
      lock,
      Integer.toString(ITERATIONS),
      shared.counterFile().toString(),
      shared.logFile().toString()
    };
  }

  private int java(String lock, Unprotected shared) throws InterruptedException {
    try (LockkeeperClient client =
        LockkeeperClient.builder(rig.server().address()).plaintext().holder("java").build()) {
      for (int i = 0; i < ITERATIONS; i++) {
        try (LockHandle held = client.lock(lock)) {
          shared.work(held.fencingToken(), "java");
        }
      }
    }
    return ITERATIONS;
  }

  private int grpcurl(String lock, Unprotected shared) {
    if (!Polyglot.GRPCURL.isInstalled()) {
      return 0;
    }
    for (int i = 0; i < GRPCURL_ITERATIONS; i++) {
      try (Grpcurl held = Grpcurl.acquire(rig.server(), lock)) {
        shared.work(held.awaitToken(), "grpcurl");
      }
    }
    return GRPCURL_ITERATIONS;
  }
}
