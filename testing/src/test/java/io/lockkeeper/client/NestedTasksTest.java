package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.testing.InMemoryLockkeeper;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tasks that run under a lock and ask for the same one again, in one thread. */
class NestedTasksTest {

  private static final LockRequest LOCK = LockRequest.of("orders/42");

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
