package io.lockkeeper.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.bench.load.Order.Shape;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class OrderTest {

  private static Order order(Shape shape, long run) {
    return new Order(shape, 2, 0, 1, 0, run);
  }

  @Test
  void ownLocksAreTheClientsForEver() {
    Order order = order(Shape.OWN, 1);
    assertThat(order.lock(0, 1)).isEqualTo(order.lock(0, 2)).isNotEqualTo(order.lock(1, 1));
  }

  @Test
  void locksThatAreHeldThroughoutAreNoOtherOrders() {
    Order order = order(Shape.REENTRY, 1);
    assertThat(order.lock(0, 1)).isEqualTo(order.lock(0, 2)).isNotEqualTo(order.lock(1, 1));
    assertThat(order.lock(0, 1)).isNotEqualTo(order(Shape.OWN, 1).lock(0, 1));
  }

  @Test
  void hotLockIsOneForAll() {
    Order order = order(Shape.HOT, 1);
    assertThat(order.lock(0, 1)).isEqualTo(order.lock(1, 7));
  }

  @Test
  void newNamesAreNeverUsedTwiceNotEvenByAnotherRun() {
    // Given
    Set<String> names = new HashSet<>();
    // When
    for (long run = 0; run < 2; run++) {
      for (int client = 0; client < 2; client++) {
        for (long turn = 0; turn < 3; turn++) {
          names.add(order(Shape.NAMES, run).lock(client, turn));
        }
      }
    }
    // Then
    assertThat(names).hasSize(12);
  }
}
