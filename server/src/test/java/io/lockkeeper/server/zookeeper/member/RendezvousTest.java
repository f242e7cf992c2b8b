package io.lockkeeper.server.zookeeper.member;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.zookeeper.record.StorePaths;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class RendezvousTest {

  private static final List<String> MEMBERS = List.of("a", "b", "c", "d");

  @Test
  void everyMemberHasARankOfItsOwn() {
    for (int i = 0; i < 1_000; i++) {
      String claim = StorePaths.claimName(i);
      List<Integer> ranks = new ArrayList<>();
      MEMBERS.forEach(member -> ranks.add(Rendezvous.rank(claim, member, MEMBERS)));
      assertThat(ranks).containsExactlyInAnyOrder(0, 1, 2, 3);
    }
  }

  @Test
  void sessionsOfConsecutiveNamesSpreadOverTheMembers() {
    for (String member : MEMBERS) {
      long first =
          IntStream.range(0, 1_000)
              .filter(i -> Rendezvous.rank(StorePaths.claimName(i), member, MEMBERS) == 0)
              .count();
      assertThat(first).isBetween(180L, 320L);
    }
  }

  @Test
  void orderOfTheOthersStaysWhenOneLeaves() {
    for (int i = 0; i < 1_000; i++) {
      String claim = StorePaths.claimName(i);
      Set<String> fewer = new HashSet<>(MEMBERS);
      fewer.remove("d");
      int before = Rendezvous.rank(claim, "a", MEMBERS);
      int after = Rendezvous.rank(claim, "a", fewer);
      boolean behind = Rendezvous.rank(claim, "d", MEMBERS) < before;
      assertThat(after).isEqualTo(behind ? before - 1 : before);
    }
  }

  @Test
  void whoIsNotAmongTheMembersYetHasARankAllTheSame() {
    assertThat(Rendezvous.rank("x", "new", MEMBERS)).isBetween(0, 4);
    assertThat(Rendezvous.rank("x", "new", List.of())).isZero();
  }
}
