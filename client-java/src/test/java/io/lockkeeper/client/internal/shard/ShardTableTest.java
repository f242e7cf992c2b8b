package io.lockkeeper.client.internal.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.v1.NamespaceMove;
import io.lockkeeper.v1.PlacedNamespace;
import io.lockkeeper.v1.Shard;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which shard serves what, by name and by hashing, and which tables are not taken. */
class ShardTableTest {

  private static io.lockkeeper.v1.ShardTable.Builder table(String... hashed) {
    io.lockkeeper.v1.ShardTable.Builder table = io.lockkeeper.v1.ShardTable.newBuilder();
    table.setVersion(1);
    for (String id : hashed) {
      table.addShards(shard(id).setHashed(true));
    }
    return table;
  }

  private static Shard.Builder shard(String id) {
    return Shard.newBuilder().setId(id).addAddresses(id + ".example.org:7420");
  }

  private static PlacedNamespace placed(String namespace, String shard) {
    return PlacedNamespace.newBuilder().setNamespace(namespace).setShard(shard).build();
  }

  /** The values are those of {@code printf '%s' 'a/orders' | sha256sum}. */
  @ParameterizedTest
  @CsvSource({
    "a, orders, ebf83eb83f9203e6",
    "b, orders, 84ef9421b677d214",
    "c, orders, 5e02275c2649cc0d",
    "a, users, 0149ca2775fc00cf",
    "shard-10, users, b87858ba7e2f6f79",
    "a, größe, b2cbad6980231d81",
    "b, größe, 2a38cfcd56cdf6e4"
  })
  void weightIsTheBeginningOfTheHash(String shard, String namespace, String hex) {
    assertThat(Long.toHexString(ShardTable.weight(shard, namespace)))
        .isEqualTo(hex.replaceFirst("^0+", ""));
  }

  @ParameterizedTest
  @CsvSource({"orders, a", "users, shard-10", "stock, c", "größe, a", "carts, b"})
  void heaviestHashedShardServesWhatIsNotNamed(String namespace, String expected) {
    // Given
    ShardTable table = ShardTable.of(table("shard-10", "c", "b", "a").build());
    // When / Then
    assertThat(table.shardOf(namespace)).hasValue(expected);
    assertThat(table.shardOf(namespace)).hasValue(expected); // As it is remembered, too.
  }

  @Test
  void shardThatIsNotHashedServesOnlyWhatIsNamed() {
    // Given
    ShardTable table =
        ShardTable.of(table("b").addShards(shard("a")).addNamespaces(placed("stock", "a")).build());
    // When / Then
    assertThat(table.shardOf("orders")).hasValue("b"); // Though the weight of a is higher.
    assertThat(table.shardOf("stock")).hasValue("a");
  }

  @Test
  void namespaceThatMovesIsAskedForWhereItWas() {
    // Given
    ShardTable table =
        ShardTable.of(
            table("a", "b")
                .addNamespaces(placed("carts", "a"))
                .addMoves(NamespaceMove.newBuilder().setNamespace("carts").setTo("b"))
                .build());
    // When / Then
    assertThat(table.shardOf("carts")).hasValue("a");
  }

  @Test
  void withoutATableNothingIsKnownButWhatAServerHasSaid() {
    // Given
    ShardTable hinted = ShardTable.NONE.with("orders", shard("b").build());
    // When / Then
    assertThat(ShardTable.NONE.shardOf("orders")).isEmpty();
    assertThat(hinted.shardOf("orders")).hasValue("b");
    assertThat(hinted.shardOf("users")).isEmpty();
    assertThat(hinted.version()).isZero();
    assertThat(hinted.addressesOf("b")).hasToString("[b.example.org:7420]");
  }

  @Test
  void hintWithoutAddressesIsNotTaken() {
    // Given
    Shard nowhere = Shard.newBuilder().setId("b").build();
    // When
    ShardTable hinted = ShardTable.NONE.with("orders", nowhere);
    // Then
    assertThat(hinted.shardOf("orders")).isEmpty();
  }

  private static void refuses(Consumer<io.lockkeeper.v1.ShardTable.Builder> change) {
    io.lockkeeper.v1.ShardTable.Builder table = table("a", "b");
    ShardTable.of(table.build()); // It is the change that is refused.
    change.accept(table);
    assertThatThrownBy(() -> ShardTable.of(table.build()))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void tableThatIsLargerThanATableMayBeIsNotTaken() {
    refuses(
        table -> {
          for (int i = 0; i < 999; i++) {
            table.addShards(shard("s" + i));
          }
        });
    refuses(
        table -> {
          for (int i = 0; i <= 10_000; i++) {
            table.addNamespaces(placed("n" + i, "a"));
          }
        });
    refuses(
        table -> {
          for (int i = 0; i <= 100; i++) {
            table.addMoves(NamespaceMove.newBuilder().setNamespace("n" + i).setTo("a"));
          }
        });
    refuses(
        table -> {
          List<String> many = Collections.nCopies(17, "c.example.org:7420");
          table.addShards(Shard.newBuilder().setId("c").addAllAddresses(many));
        });
  }

  @Test
  void tableThatContradictsItselfIsNotTaken() {
    refuses(table -> table.setVersion(0));
    refuses(table -> table.addShards(shard("a")));
    refuses(table -> table.addShards(shard("A")));
    refuses(table -> table.addShards(Shard.newBuilder().setId("c")));
    refuses(table -> table.addShards(Shard.newBuilder().setId("c").addAddresses("no address")));
    refuses(table -> table.addNamespaces(placed("orders", "unknown")));
    refuses(
        table -> table.addNamespaces(placed("orders", "a")).addNamespaces(placed("orders", "b")));
  }
}
