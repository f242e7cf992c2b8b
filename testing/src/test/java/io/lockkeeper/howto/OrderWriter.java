package io.lockkeeper.howto;

import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClient;
import java.time.Duration;
import java.util.function.UnaryOperator;

/** Changes orders: of all processes, one at a time changes an order. */
final class OrderWriter {

  private final LockkeeperClient client;
  private final Orders orders;

  OrderWriter(LockkeeperClient client, Orders orders) {
    this.client = client;
    this.orders = orders;
  }

  void change(String id, UnaryOperator<String> change) throws InterruptedException {
    LockRequest request =
        LockRequest.of("orders/" + id)
            .waitAtMost(Duration.ofSeconds(10))
            .maxHold(Duration.ofMinutes(1));
    client.runWithLock(
        request,
        lock -> {
          String state = change.apply(orders.state(id));
          orders.write(id, state, lock.fencingToken());
        });
  }
}
