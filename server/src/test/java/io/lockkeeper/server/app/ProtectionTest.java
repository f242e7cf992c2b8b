package io.lockkeeper.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.security.Authority;
import io.lockkeeper.server.security.Identity;
import io.lockkeeper.server.security.Right;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that are read again because somebody asks for it. */
class ProtectionTest {

  private static final String RULE =
      "rules: [{identities: [\"token:%s\"], locks: [\"*\"], rights: [read]}]";

  @TempDir private Path directory;

  @BeforeEach
  void write() throws IOException {
    policyFor("before");
  }

  private void policyFor(String name) throws IOException {
    Files.writeString(directory.resolve("policy"), RULE.formatted(name));
  }

  private Protection open() {
    return Protection.open(
        ServerConfig.of(
            Profile.SERVE,
            Map.of("listen", "127.0.0.1:7420", "policy", directory.resolve("policy").toString())));
  }

  private static boolean permits(Protection protection, String name) {
    Authority authority = protection.rules().authority();
    return authority.permitsAll(Identity.of("token:" + name), Right.READ, "");
  }

  @Test
  void newFileIsInForceAtOnceAfterTwoLooksThatAreApart() throws IOException {
    // Given
    try (Protection protection = open()) {
      long from = System.nanoTime();
      policyFor("after");
      // When
      var problems = protection.readNow();
      // Then
      assertThat(problems).isEmpty();
      assertThat(permits(protection, "after")).isTrue();
      assertThat(permits(protection, "before")).isFalse();
      assertThat(System.nanoTime() - from).isGreaterThanOrEqualTo(Duration.ofMillis(200).toNanos());
    }
  }

  @Test
  void looksOfTwoThreadsAreNotCloserToEachOther() throws Exception {
    // Given
    try (Protection protection = open()) {
      long from = System.nanoTime();
      policyFor("after");
      // When
      CompletableFuture<?> one = CompletableFuture.runAsync(protection::readNow);
      CompletableFuture<?> other = CompletableFuture.runAsync(protection::readNow);
      while (!permits(protection, "after")) {
        Thread.onSpinWait();
      }
      long taken = System.nanoTime();
      CompletableFuture.allOf(one, other).get(60, TimeUnit.SECONDS);
      // Then
      assertThat(taken - from).isGreaterThanOrEqualTo(Duration.ofMillis(200).toNanos());
    }
  }

  @Test
  void wrongFileIsAProblemAndTheOneBeforeStays() throws IOException {
    // Given
    try (Protection protection = open()) {
      Files.writeString(directory.resolve("policy"), "rules: []");
      // When
      var problems = protection.readNow();
      // Then
      assertThat(problems).containsExactly("policy: line 1: rules must not be empty");
      assertThat(permits(protection, "before")).isTrue();
    }
  }
}
