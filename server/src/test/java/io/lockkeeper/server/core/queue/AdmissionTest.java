package io.lockkeeper.server.core.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.Bench;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.lock.Occupancy;
import io.lockkeeper.server.core.lock.PermitsKind;
import io.lockkeeper.server.core.lock.ReadWriteKind;
import io.lockkeeper.server.core.simulation.Wish;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdmissionTest {

  private static final long SEED = 4_711;
  private static final Occupancy FREE = Occupancy.free(OptionalInt.empty());

  private static EntryName name(Mode mode, int sequence) {
    return new EntryName("e" + sequence, Optional.empty(), mode, sequence);
  }

  @ParameterizedTest(name = "after {0}, {1} may hold: {2}")
  @CsvSource({
    "EXCLUSIVE,  EXCLUSIVE,  false",
    "EXCLUSIVE,  READ,       false",
    "EXCLUSIVE,  WRITE,      false",
    "EXCLUSIVE,  PERMIT_1_3, false",
    "READ,       EXCLUSIVE,  false",
    "READ,       READ,       true",
    "READ,       WRITE,      false",
    "READ,       PERMIT_1_3, false",
    "WRITE,      EXCLUSIVE,  false",
    "WRITE,      READ,       false",
    "WRITE,      WRITE,      false",
    "WRITE,      PERMIT_1_3, false",
    "PERMIT_1_3, EXCLUSIVE,  false",
    "PERMIT_1_3, READ,       false",
    "PERMIT_1_3, WRITE,      false",
    "PERMIT_1_3, PERMIT_1_3, true",
    "PERMIT_1_3, PERMIT_2_3, true",
    "PERMIT_2_3, PERMIT_2_3, false",
    "PERMIT_2_3, PERMIT_1_3, true",
    "PERMIT_2_3, PERMIT_1_5, true",
    "PERMIT_2_3, PERMIT_2_5, false"
  })
  void twoHoldsAreTogetherExactlyWhenTheirModesAllowIt(
      String ahead, String behind, boolean together) {
    // When
    boolean admitted = FREE.plus(name(mode(ahead), 1)).admits(name(mode(behind), 2));
    // Then
    assertThat(admitted).isEqualTo(together);
  }

  @ParameterizedTest
  @CsvSource({"EXCLUSIVE", "READ", "WRITE", "PERMIT_1_3", "PERMIT_3_3"})
  void aFreeLockAdmitsEveryMode(String mode) {
    assertThat(FREE.admits(name(mode(mode), 1))).isTrue();
  }

  @Test
  void permitsAreCountedWithoutOverflow() {
    Mode all = new PermitsKind.Permits(Integer.MAX_VALUE, Integer.MAX_VALUE);
    Mode one = new PermitsKind.Permits(1, Integer.MAX_VALUE);
    assertThat(FREE.plus(name(all, 1)).admits(name(one, 2))).isFalse();
  }

  @Test
  void anEntryHoldsExactlyWhenItIsCompatibleWithAllThatAreAheadAndStillThere() {
    Random random = new Random(SEED);
    for (int run = 0; run < 20_000; run++) {
      // Given
      List<Entry> queue = randomQueue(random);
      // When
      List<Entry> holders = Admission.holders(queue, OptionalInt.empty());
      // Then
      assertThat(holders).as("seed %d, run %d: %s", SEED, run, modes(queue)).isEqualTo(dumb(queue));
    }
  }

  @Test
  void entryHoldsOnlyIfItGoesWithEverythingAheadAndNotOnlyWithTheFirst() {
    // Given: a reader that a listing brought back, and a writer that was granted when it had gone
    Entry back = new Entry(name(ReadWriteKind.READ, 1), 0, 0, 1, 0, false);
    Entry writer = new Entry(name(ReadWriteKind.WRITE, 2), 0, 0, 2, 0, false);
    writer.hold(0);
    Entry reader = new Entry(name(ReadWriteKind.READ, 3), 0, 0, 3, 0, false);
    // When
    List<Entry> holders = Admission.holders(List.of(back, writer, reader), OptionalInt.empty());
    // Then
    assertThat(holders).containsExactly(back, writer);
  }

  @Test
  void entryWithALockDelayIsNotAdmittedPastOneThatIsReleasedAndNotDeleted() {
    // Given
    Bench bench = Bench.ready();
    bench.alone(Wish.named("h").exclusive("a"));
    bench.alone(Wish.named("w").exclusive("a").delaying(Duration.ofSeconds(3)));
    List<Entry> queue =
        List.copyOf(bench.kernel.core.mirror.queue(new LockName("a")).orElseThrow().entries());
    queue.get(0).markReleased();
    // When
    List<Entry> holders = Admission.holders(queue, OptionalInt.empty());
    List<Entry> afterwards = Admission.holders(queue.subList(1, 2), OptionalInt.empty());
    // Then
    assertThat(holders).isEmpty();
    assertThat(afterwards).containsExactly(queue.get(1));
  }

  /** The rule once more, entry by entry, with no state carried along. */
  private static List<Entry> dumb(List<Entry> all) {
    List<Entry> queue = all.stream().filter(e -> !e.isReleased()).toList();
    List<Entry> holders = new ArrayList<>();
    for (int i = 0; i < queue.size(); i++) {
      boolean everyoneUpToHereFits = true;
      for (int j = 0; j <= i; j++) {
        everyoneUpToHereFits &= fits(queue.get(j).mode(), modes(queue.subList(0, j)));
      }
      if (everyoneUpToHereFits) {
        holders.add(queue.get(i));
      }
    }
    return holders;
  }

  private static boolean fits(Mode mode, List<Mode> ahead) {
    if (mode instanceof PermitsKind.Permits wanted) {
      long taken = 0;
      int limit = wanted.limit();
      for (Mode other : ahead) {
        if (!(other instanceof PermitsKind.Permits permits)) {
          return false;
        }
        taken += permits.permits();
        limit = Math.min(limit, permits.limit());
      }
      return taken + wanted.permits() <= limit;
    }
    return mode.equals(ReadWriteKind.READ)
        ? ahead.stream().allMatch(ReadWriteKind.READ::equals)
        : ahead.isEmpty();
  }

  private static List<Entry> randomQueue(Random random) {
    List<Entry> queue = new ArrayList<>();
    int family = random.nextInt(4);
    int size = random.nextInt(9);
    for (int i = 0; i < size; i++) {
      EntryName name = new EntryName("e" + i, Optional.empty(), randomMode(random, family), i);
      Entry entry = new Entry(name, 0, 0, i, 0, false);
      if (random.nextInt(6) == 0) {
        entry.markReleased();
      }
      queue.add(entry);
    }
    return queue;
  }

  /** One family for most queues, and a mixture for the rest: two coordinators may race. */
  private static Mode randomMode(Random random, int family) {
    return switch (family == 3 ? random.nextInt(3) : family) {
      case 0 -> MutexKind.EXCLUSIVE;
      case 1 -> random.nextInt(3) == 0 ? ReadWriteKind.WRITE : ReadWriteKind.READ;
      default -> {
        int limit = 1 + random.nextInt(5);
        yield new PermitsKind.Permits(1 + random.nextInt(limit), limit);
      }
    };
  }

  private static List<Mode> modes(List<Entry> queue) {
    return queue.stream().map(Entry::mode).toList();
  }

  private static Mode mode(String text) {
    return switch (text) {
      case "EXCLUSIVE" -> MutexKind.EXCLUSIVE;
      case "READ" -> ReadWriteKind.READ;
      case "WRITE" -> ReadWriteKind.WRITE;
      default -> {
        String[] placements = text.split("_");
        yield new PermitsKind.Permits(
            Integer.parseInt(placements[1]), Integer.parseInt(placements[2]));
      }
    };
  }
}
