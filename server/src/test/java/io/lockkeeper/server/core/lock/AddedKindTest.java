package io.lockkeeper.server.core.lock;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench;
import io.lockkeeper.server.core.Bench.Asked;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.simulation.Wish;
import io.lockkeeper.server.testing.RoomKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A kind of lock that was added, as docs/adding-a-lock-kind.md shows it. */
class AddedKindTest {

  private final Bench bench = Bench.ready();
  private int names;

  private Asked enter(String team) {
    return bench.alone(Wish.named("r" + ++names).lock("room", new RoomKind.Member(team)));
  }

  @Test
  void membersOfOneTeamShareTheRoomAndOthersWaitTheirTurn() {
    // Given
    Asked first = enter("blue");
    Asked second = enter("blue");
    Asked other = enter("red");
    Asked late = enter("blue");
    assertThat(List.of(first, second)).allMatch(bench::wasGranted);
    assertThat(List.of(other, late)).noneMatch(bench::wasGranted);
    // When
    bench.release(first);
    boolean whileOneIsIn = bench.wasGranted(other);
    bench.release(second);
    // Then: first come, first served, so that the red one is not starved by blue ones
    assertThat(whileOneIsIn).isFalse();
    assertThat(bench.wasGranted(other)).isTrue();
    assertThat(bench.wasGranted(late)).isFalse();
  }

  @Test
  void entriesOfOtherCoordinatorsAreReadByTheirNames() {
    assertThat(EntryName.parse("room-red-0000000012"))
        .map(EntryName::mode)
        .contains(new RoomKind.Member("red"));
    assertThat(EntryName.parse("room-RED-0000000012")).isEmpty();
  }

  @Test
  void otherKindsAreKeptOutOfTheQueue() {
    enter("blue");
    Asked mutex = bench.ask(bench.lease(), Wish.named("m").exclusive("room"));
    assertThat(bench.refusals(mutex.stream())).containsExactly(Failure.Reason.WRONG_KIND);
  }

  @Test
  void ownerEntersOnceMoreWithoutAWrite() {
    LeaseId lease = bench.lease();
    Mode blue = new RoomKind.Member("blue");
    bench.askAndCreate(lease, Wish.named("one").lock("room", blue).by("thread"));
    Asked again = bench.ask(lease, Wish.named("two").lock("room", blue).by("thread"));
    assertThat(bench.granted(again).grants().get(0).holdCount()).isEqualTo(2);
  }

  @Test
  void thePageShowsTheClassAsItIs() throws IOException {
    Path root = Path.of("").toAbsolutePath().getParent();
    String page = Files.readString(root.resolve("docs/adding-a-lock-kind.md"));
    String source =
        Files.readString(
            root.resolve("server/src/test/java/io/lockkeeper/server/testing/RoomKind.java"));
    assertThat(page).contains("```java\n" + source.substring(source.indexOf("/** A room")) + "```");
  }
}
