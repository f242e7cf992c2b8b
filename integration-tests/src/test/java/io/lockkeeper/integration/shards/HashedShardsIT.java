package io.lockkeeper.integration.shards;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.integration.harness.Program;
import io.lockkeeper.v1.PlacedNamespace;
import io.lockkeeper.v1.Shard;
import io.lockkeeper.v1.ShardTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A shard that takes its part of the namespaces that nobody has named. */
final class HashedShardsIT {

  @RegisterExtension private static final TwoShards shards = TwoShards.start();

  @Test
  void shardTakesItsPartOfWhatIsNotInUse() throws Exception {
    try (LockkeeperClient client = TwoShards.clientOf(shards.a())) {
      // Given: some that are in use, of which b would take some
      List<LockHandle> held = new ArrayList<>();
      long highest = 0;
      for (int i = 0; i < 16; i++) {
        held.add(client.lock(LockRequest.of("used-" + i + "/x")));
        highest = Math.max(highest, held.get(i).fencingToken());
      }
      // When
      shards.require(0, "hash", "b");
      // Then: those stay, and are named
      ShardTable table = shards.table(shards.a());
      assertThat(table.getShardsList()).allMatch(Shard::getHashed);
      assertThat(table.getJoining()).isEmpty();
      assertThat(table.getNamespacesList())
          .isNotEmpty()
          .hasSizeLessThan(16)
          .allMatch(named -> named.getShard().equals("a"));
      assertThat(held).allMatch(LockHandle::isValid);
      assertThat(shards.table(shards.b())).isEqualTo(table);
      // When: new ones, of which both get some
      int atB = 0;
      for (int i = 0; i < 16; i++) {
        try (LockHandle next = client.lock(LockRequest.of("new-" + i + "/x"))) {
          boolean there = isServedByB("new-" + i);
          atB += there ? 1 : 0;
          assertThat(next.fencingToken() > highest || !there).isTrue();
        }
      }
      // Then
      assertThat(atB).isBetween(1, 15);
      for (LockHandle handle : held) {
        handle.close();
      }
      refusesToRemove();
    }
  }

  private static boolean isServedByB(String namespace) {
    Program show =
        Program.run(Map.of(), "show", namespace + "/x", "--server", shards.a().addresses());
    return show.text().contains("served by shard 'b'");
  }

  private static void refusesToRemove() {
    assertThat(shards.require(1, "remove", "b")).contains("it stays");
    assertThat(shards.require(1, "hash", "b")).contains("already");
    assertThat(shards.table(shards.a()).getNamespacesList())
        .extracting(PlacedNamespace::getShard)
        .containsOnly("a");
  }
}
