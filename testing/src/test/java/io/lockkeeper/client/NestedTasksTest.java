package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.testing.InMemoryLockkeeper;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tasks that run under a lock and ask for the same one again, in one thread. */
@Timeout(60)
class NestedTasksTest {

  private static final LockRequest LOCK = LockRequest.of("orders/42");
  private static final LockRequest READ = LockRequest.of(LockSpec.read("accounts/1"));
  private static final LockRequest WRITE = LockRequest.of(LockSpec.write("accounts/1"));

  private InMemoryLockkeeper server;
  private LockkeeperClient client;

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

  @Test
  void threadThatHoldsALockIsGrantedItAgainAndHoldsItUntilTheOuterTaskHasEnded()
      throws InterruptedException {
    // When
    List<Long> tokens =
        client.withLock(
            LOCK,
            outer -> {
              long nested = client.withLock(LOCK, LockHandle::fencingToken);
              long held = server.holderToken("orders/42").orElse(0L);
              return List.of(outer.fencingToken(), nested, held);
            });
    // Then
    assertThat(tokens).containsOnly(tokens.get(0));
    assertThat(server.holderToken("orders/42")).isEmpty();
  }

  @Test
  void threadThatWritesMayRead() throws InterruptedException {
    // When
    boolean read =
        client.withLock(WRITE, writing -> client.withLock(READ, reading -> reading.isValid()));
    // Then
    assertThat(read).isTrue();
    assertThat(server.holderToken("accounts/1")).isEmpty();
  }

  @Test
  void threadThatReadsMayNotWriteAndIsToldThatItWouldWaitForEver() {
    // When / Then
    assertThatThrownBy(
            () -> client.withLock(READ, reading -> client.withLock(WRITE, LockHandle::isValid)))
        .isInstanceOfSatisfying(
            NotAcquiredException.class,
            e -> assertThat(e.reason()).isEqualTo(NotAcquiredReason.WOULD_DEADLOCK))
        .hasMessageContaining("accounts/1");
  }

  @Test
  void ownerThatARequestNamesIsKeptAndPermitsHaveNone() throws InterruptedException {
    // When
    List<String> owners =
        client.withLock(
            LOCK.owner("task 7"),
            lock ->
                client.withLock(
                    LockRequest.of(LockSpec.permits("printers", 1, 2)),
                    permit -> List.of(owner("orders/42"), owner("printers"))));
    // Then
    assertThat(owners).containsExactly("task 7", "");
  }

  private String owner(String lock) {
    return client.getLock(lock).holders().get(0).owner();
  }
}
