package io.lockkeeper.server.zookeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.api.StoreObserver;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MirrorLagTest {

  private final List<Long> lags = new ArrayList<>();

  private final MirrorLag lag =
      new MirrorLag(
          new StoreObserver() {
            @Override
            public void onCommitted(int writes, long nanos) {}

            @Override
            public void onMirrored(long nanos) {
              lags.add(nanos);
            }

            @Override
            public void onRebuilt(long nanos) {}
          });

  @Test
  void mirrorThatHasSeenItBeforeTheAnswerIsNotBehind() {
    // Given
    lag.seen(7);
    // When
    lag.answered(7);
    // Then
    assertThat(lags).containsExactly(0L);
  }

  @Test
  void lagLastsUntilTheMirrorHasComeAsFar() {
    // Given
    lag.answered(7);
    lag.seen(6);
    assertThat(lags).isEmpty();
    // When
    lag.seen(8);
    // Then
    assertThat(lags).hasSize(1).allMatch(nanos -> nanos > 0);
  }

  @Test
  void oneIsAwaitedAtATime() {
    // Given
    lag.answered(7);
    lag.answered(8);
    // When
    lag.seen(8);
    lag.seen(9);
    // Then
    assertThat(lags).hasSize(1);
  }

  @Test
  void whatIsAwaitedWhenTheConnectionIsLostIsNotMeasured() {
    // Given
    lag.answered(7);
    // When
    lag.forget();
    lag.seen(8);
    // Then
    assertThat(lags).isEmpty();
  }
}
