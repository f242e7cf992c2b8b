package io.lockkeeper.howto;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.testing.InMemoryLockkeeper;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The code of docs/how-to/one-writer-per-entity.md, run. */
class OneWriterPerEntityTest {

  private final InMemoryLockkeeper server = InMemoryLockkeeper.start();
  private final LockkeeperClient client = server.clientBuilder().build();
  private final LockkeeperClient other = server.clientBuilder().build();
  private final Orders orders = new Orders();

  @AfterEach
  void close() {
    client.close();
    other.close();
    server.close();
  }

  @Test
  void noChangeOfAnOrderIsOverwritten() {
    // Given
    CompletableFuture<?>[] changes = new CompletableFuture<?>[40];
    // When
    for (int i = 0; i < changes.length; i++) {
      OrderWriter writer = new OrderWriter(i % 2 == 0 ? client : other, orders);
      changes[i] = CompletableFuture.runAsync(() -> change(writer, "42", state -> state + "."));
    }
    CompletableFuture.allOf(changes).join();
    // Then
    assertThat(orders.state("42")).isEqualTo("new" + ".".repeat(40));
  }

  @Test
  void writerThatWasPausedCannotUndoWhatTheNextHolderWrote() {
    // Given
    OrderWriter paused = new OrderWriter(client, orders);
    OrderWriter next = new OrderWriter(other, orders);
    UnaryOperator<String> pause =
        state -> {
          server.removeHolder("orders/42");
          CompletableFuture.runAsync(() -> change(next, "42", before -> "shipped")).join();
          return "cancelled";
        };
    // When
    CompletableFuture<Void> change = CompletableFuture.runAsync(() -> change(paused, "42", pause));
    // Then
    // Whether the client has heard of the loss by then or not.
    assertThatThrownBy(change::join).hasStackTraceContaining("is too old");
    assertThat(orders.state("42")).isEqualTo("shipped");
  }

  private static void change(OrderWriter writer, String id, UnaryOperator<String> change) {
    try {
      writer.change(id, change);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
