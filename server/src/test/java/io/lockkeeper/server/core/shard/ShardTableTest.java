package io.lockkeeper.server.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.shard.ShardTable.Placed;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShardTableTest {

  private static Shard shard(String id, boolean hashed) {
    return new Shard(id, List.of(id + ":7420"), hashed, 3);
  }

  private static ShardTable table(
      Map<String, Placed> named, Map<String, String> moves, Shard... of) {
    TreeMap<String, Shard> shards = new TreeMap<>();
    List.of(of).forEach(shard -> shards.put(shard.id(), shard));
    return new ShardTable(
        1, of[0].id(), shards, new TreeMap<>(named), new TreeMap<>(moves), "", "");
  }

  private static ShardTable abc() {
    return table(Map.of(), Map.of(), shard("a", true), shard("b", true), shard("c", true));
  }

  @ParameterizedTest
  @CsvSource({
    "a, orders, ebf83eb83f9203e6",
    "b, orders, 84ef9421b677d214",
    "c, orders, 5e02275c2649cc0d",
    "a, träger, 9b0d861d928652f1",
    "c, träger, 8f0bc356d71d437e"
  })
  void weightIsTheBeginningOfTheHashThatSha256sumPrints(String id, String namespace, String hex) {
    assertThat(ShardTable.weight(id, namespace)).isEqualTo(Long.parseUnsignedLong(hex, 16));
  }

  @ParameterizedTest
  @CsvSource({"orders, a", "payments, b", "träger, a"})
  void whatIsNotNamedGoesToTheHighestWeightAsAnUnsignedNumber(String namespace, String shard) {
    assertThat(abc().place(namespace)).contains(new Placed(shard, 3));
  }

  @Test
  void whatIsNamedIsWhereTheTableSaysAndShardsThatAreNotHashedGetNothingElse() {
    // Given
    ShardTable table =
        table(Map.of("orders", new Placed("b", 9)), Map.of(), shard("a", true), shard("b", false));
    // Then
    assertThat(table.place("orders")).contains(new Placed("b", 9));
    assertThat(table.place("payments")).contains(new Placed("a", 3));
    assertThat(ShardTable.NONE.place("orders")).isEmpty();
  }

  @Test
  void shardThatIsAddedTakesItsPartFromAllAndNothingElseMoves() {
    // Given
    ShardTable three = abc();
    ShardTable four =
        table(
            Map.of(),
            Map.of(),
            shard("a", true),
            shard("b", true),
            shard("c", true),
            shard("d", true));
    Map<String, Integer> taken = new HashMap<>();
    // When
    IntStream.range(0, 8_000)
        .mapToObj(i -> "team-" + i)
        .forEach(
            namespace -> {
              String before = three.place(namespace).orElseThrow().shard();
              String after = four.place(namespace).orElseThrow().shard();
              assertThat(after).isIn(before, "d");
              if (after.equals("d")) {
                taken.merge(before, 1, Integer::sum);
              }
            });
    // Then: of each a quarter of its third
    assertThat(taken.values()).hasSize(3).allMatch(count -> count > 500 && count < 850);
  }

  @Test
  void whatAJoiningShardWillTakeIsOnItsWayToItAndNothingElse() {
    // Given
    ShardTable without =
        table(Map.of("named", new Placed("a", 0)), Map.of(), shard("a", true), shard("d", false));
    ShardTable joining =
        new ShardTable(2, "a", without.shards(), without.namespaces(), without.moves(), "d", "");
    ShardTable with =
        table(Map.of("named", new Placed("a", 0)), Map.of(), shard("a", true), shard("d", true));
    // Then
    IntStream.range(0, 1_000)
        .mapToObj(i -> "team-" + i)
        .forEach(
            namespace -> {
              assertThat(joining.place(namespace)).isEqualTo(without.place(namespace));
              assertThat(joining.destination(namespace).map(Shard::id))
                  .isEqualTo(
                      with.place(namespace).map(Placed::shard).filter(shard -> shard.equals("d")));
            });
    assertThat(joining.destination("named")).isEmpty();
    assertThat(joining.problem()).isEmpty();
    assertThat(
            new ShardTable(2, "a", with.shards(), with.namespaces(), with.moves(), "d", "")
                .problem())
        .isPresent();
  }

  @Test
  void hundredShardsShareNamespacesEvenly() {
    // Given
    Shard[] shards =
        IntStream.range(0, 100).mapToObj(i -> shard("s" + i, true)).toArray(Shard[]::new);
    ShardTable table = table(Map.of(), Map.of(), shards);
    Map<String, Integer> served = new HashMap<>();
    // When
    IntStream.range(0, 5_000)
        .forEach(i -> served.merge(table.place("t" + i).orElseThrow().shard(), 1, Integer::sum));
    // Then
    assertThat(served).hasSize(100);
    assertThat(served.values()).allMatch(count -> count > 25 && count < 80);
  }

  @Test
  void problemIsNamed() {
    Shard a = shard("a", true);
    assertThat(table(Map.of(), Map.of(), a).problem()).isEmpty();
    assertThat(table(Map.of(), Map.of(), shard("a", false)).problem())
        .get()
        .asString()
        .contains("a hashed shard");
    assertThat(table(Map.of("n", new Placed("x", 0)), Map.of(), a).problem())
        .get()
        .asString()
        .contains("'n'");
    assertThat(table(Map.of(), Map.of("n", "a"), a).problem()).get().asString().contains("'n'");
    assertThat(table(Map.of("n", new Placed("a", 0)), Map.of("n", "x"), a).problem())
        .get()
        .asString()
        .contains("'n'");
    assertThat(ShardTable.NONE.problem()).isPresent();
  }
}
