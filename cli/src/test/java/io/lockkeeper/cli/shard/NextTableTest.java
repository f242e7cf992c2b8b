package io.lockkeeper.cli.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.shard.Shard;
import io.lockkeeper.server.core.shard.ShardTable;
import io.lockkeeper.server.core.shard.ShardTable.Placed;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NextTableTest {

  private static Shard shard(String id, boolean hashed) {
    return new Shard(id, List.of(id + ":7420"), hashed, 0);
  }

  private static ShardTable first() {
    return new NextTable(ShardTable.NONE).lead("a", "service").shard(shard("a", true)).build();
  }

  private static Copy copy(long epoch) {
    return new Copy("a", first(), epoch << Integer.SIZE | 77, false);
  }

  @Test
  void eachVersionFollowsTheOneBefore() {
    // When
    ShardTable second = new NextTable(first()).shard(shard("b", false)).build();
    ShardTable third = new NextTable(second).moving("n", new Placed("a", 2), "b").build();
    ShardTable fourth = new NextTable(third).settled("n", new Placed("b", 3)).build();
    // Then
    assertThat(List.of(first(), second, third, fourth))
        .extracting(ShardTable::version)
        .containsExactly(1L, 2L, 3L, 4L);
    assertThat(third.destination("n").map(Shard::id)).contains("b");
    assertThat(third.place("n")).contains(new Placed("a", 2));
    assertThat(fourth.destination("n")).isEmpty();
    assertThat(fourth.place("n")).contains(new Placed("b", 3));
    assertThat(fourth.service()).isEqualTo("service");
  }

  @Test
  void whatIsNoTableOrTooLargeIsRefused() {
    NextTable named = new NextTable(first());
    for (int i = 0; i <= ShardTable.MAX_NAMESPACES; i++) {
      named.settled("n" + i, new Placed("a", 0));
    }
    NextTable large = new NextTable(first());
    for (int i = 0; i < 200; i++) {
      large.settled("n".repeat(400) + i, new Placed("a", 0));
    }
    assertThatThrownBy(named::build).isInstanceOf(CliException.class).hasMessageContaining("1000");
    assertThatThrownBy(large::build).isInstanceOf(CliException.class).hasMessageContaining("bytes");
    assertThatThrownBy(() -> new NextTable(first()).without("a").build())
        .isInstanceOf(CliException.class)
        .hasMessageContaining("lead");
  }

  @ParameterizedTest
  @CsvSource({"5, 0, 5, 1", "5, 0, 4, 2", "5, 3, 1, 8", "1, 0, 9, 0", "8, 0, 9, 0", "9, 0, 9, 1"})
  void tokensOfTheOtherShardAreAboveAllBefore(long before, int added, long after, int epochs) {
    assertThat(NamespaceMove.epochsAbove(copy(before), added, copy(after))).isEqualTo(epochs);
    assertThat(after + epochs).isGreaterThan(before + added);
  }

  @Test
  void moreEpochsThanThereIsRoomForAreRefused() {
    assertThatThrownBy(
            () -> NamespaceMove.epochsAbove(copy(1), FencingToken.MAX_ADDED_EPOCHS, copy(1)))
        .isInstanceOf(CliException.class)
        .hasMessageContaining("room");
  }
}
