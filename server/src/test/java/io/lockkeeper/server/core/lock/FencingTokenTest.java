package io.lockkeeper.server.core.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import org.junit.jupiter.api.Test;

class FencingTokenTest {

  private static final long SEED = 11;

  @Test
  void laterTransactionHasTheHigherTokenWhateverTheIndex() {
    Random random = new Random(SEED);
    for (int i = 0; i < 10_000; i++) {
      long first = zxid(random);
      long second = zxid(random);
      int a = random.nextInt(FencingToken.MAX_INDEX + 1);
      int b = random.nextInt(FencingToken.MAX_INDEX + 1);
      int expected = first != second ? Long.compare(first, second) : Integer.compare(a, b);
      int actual =
          Long.compare(FencingToken.of(first, a).value(), FencingToken.of(second, b).value());
      assertThat(actual).as("seed %d: %x.%d, %x.%d", SEED, first, a, second, b).isEqualTo(expected);
    }
  }

  private static long zxid(Random random) {
    long epoch = random.nextInt(3) == 0 ? FencingToken.MAX_EPOCH : random.nextInt(3);
    long counter = random.nextBoolean() ? 0xFFFF_FFFFL : random.nextInt(3) + 1L;
    return epoch << 32 | counter;
  }

  @Test
  void aNewEpochOutranksTheLastTokenOfTheOldOne() {
    long before = FencingToken.of(0x1_FFFF_FFFFL, FencingToken.MAX_INDEX).value();
    assertThat(FencingToken.of(0x2_0000_0001L, 0).value()).isGreaterThan(before);
  }

  @Test
  void theLargestTokenIsPositiveAndTheSmallestIsNotZero() {
    FencingToken largest =
        FencingToken.of(FencingToken.MAX_EPOCH << 32 | 0xFFFF_FFFFL, FencingToken.MAX_INDEX);
    assertThat(largest.value()).isEqualTo(Long.MAX_VALUE);
    assertThat(FencingToken.of(1, 0).value()).isPositive();
  }

  @Test
  void whatDoesNotFitIsRefused() {
    assertThatThrownBy(() -> FencingToken.of((FencingToken.MAX_EPOCH + 1) << 32, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("epoch");
    assertThatThrownBy(() -> FencingToken.of(0, 0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> FencingToken.of(-1, 0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> FencingToken.of(1, FencingToken.MAX_INDEX + 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("2047");
    assertThatThrownBy(() -> FencingToken.of(1, -1)).isInstanceOf(IllegalArgumentException.class);
  }
}
