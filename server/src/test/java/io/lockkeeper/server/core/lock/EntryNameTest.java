package io.lockkeeper.server.core.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.lockkeeper.server.core.queue.Entry;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeSet;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EntryNameTest {

  private static final UUID ID = UUID.fromString("0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9");
  private static final long SEED = 19;

  @Test
  void formsOfCuratorsRecipesAreRead() {
    assertThat(parsed("_c_" + ID + "-lock-0000000012"))
        .isEqualTo(
            new EntryName(
                "_c_" + ID + "-lock-0000000012", Optional.of(ID), MutexKind.EXCLUSIVE, 12));
    assertThat(parsed("_c_" + ID + "-__WRIT__0000000013").mode()).isEqualTo(ReadWriteKind.WRITE);
    assertThat(parsed("_c_" + ID + "-__READ__0000000014").mode()).isEqualTo(ReadWriteKind.READ);
    assertThat(parsed("_c_" + ID + "-permit-2-5-0000000015").mode())
        .isEqualTo(new PermitsKind.Permits(2, 5));
    assertThat(parsed("lock-0000000016").id()).isEmpty();
    assertThat(parsed("__READ__0000000017").sequence()).isEqualTo(17);
  }

  @Test
  void everySequenceThatZooKeeperCanAppendIsRead() {
    assertThat(parsed("lock-2147483647").sequence()).isEqualTo(Integer.MAX_VALUE);
    assertThat(parsed("lock-0000000000").sequence()).isZero();
    assertThat(parsed("lock--2147483648").sequence()).isEqualTo(Integer.MAX_VALUE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "lock-",
        "lock-12",
        "lock-00000000012",
        "lock-2147483648",
        "lock-9999999999",
        "lock-000000001x",
        "xlock-0000000001",
        "lock-0000000001x",
        "permit-0-5-0000000001",
        "permit-6-5-0000000001",
        "permit-99999999-5-0000000001",
        "_c_-lock-0000000001",
        "_c_0a1b-lock-0000000001",
        "_c_0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9lock-0000000001",
        "lease-0000000001",
        "_c_0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9-"
      })
  void anythingElseIsNoEntry(String text) {
    assertThat(EntryName.parse(text)).isEmpty();
  }

  @Test
  void prefixPlusSequenceIsAnEntryOfTheSameAcquisitionAndMode() {
    for (Mode mode :
        List.of(
            MutexKind.EXCLUSIVE,
            ReadWriteKind.READ,
            ReadWriteKind.WRITE,
            new PermitsKind.Permits(3, 7))) {
      EntryName name = parsed(EntryName.prefix(ID, mode) + "0000000042");
      assertThat(name.id()).contains(ID);
      assertThat(name.mode()).isEqualTo(mode);
      assertThat(name.sequence()).isEqualTo(42);
    }
  }

  @Test
  void orderIsThatOfCreationWhateverThePrefixesAre() {
    // Given: ten thousand entries in the order of their creation
    Random random = new Random(SEED);
    List<Entry> created = new ArrayList<>();
    for (int sequence = 0; sequence < 10_000; sequence++) {
      UUID id = new UUID(random.nextLong(), random.nextLong());
      String prefix = random.nextInt(4) == 0 ? "lock-" : EntryName.prefix(id, MutexKind.EXCLUSIVE);
      String digits = String.format(java.util.Locale.ROOT, "%010d", sequence);
      created.add(new Entry(parsed(prefix + digits), 0, 0, random.nextInt(), 0, false));
    }
    List<Entry> shuffled = new ArrayList<>(created);
    Collections.shuffle(shuffled, random);
    // When
    TreeSet<Entry> ordered = new TreeSet<>(Entry.ORDER);
    ordered.addAll(shuffled);
    // Then
    assertThat(new ArrayList<>(ordered)).as("seed %d", SEED).isEqualTo(created);
  }

  @Test
  void entriesWhoseCounterHasStuckStandInTheOrderOfTheirCreation() {
    // Given: the last numbered entry, then two at the stuck number, the mirror hearing them late
    Entry last = new Entry(parsed("lock-2147483646"), 0, 0, 9, 0, false);
    Entry first = new Entry(parsed("_c_" + ID + "-lock-2147483647"), 70, 0, 8, 0, false);
    Entry second = new Entry(parsed("lock-2147483647"), 71, 0, 7, 0, false);
    // When
    TreeSet<Entry> ordered = new TreeSet<>(Entry.ORDER);
    ordered.addAll(List.of(second, first, last));
    // Then
    assertThat(ordered).containsExactly(last, first, second);
  }

  private static EntryName parsed(String text) {
    return EntryName.parse(text).orElseThrow();
  }

  @ParameterizedTest
  @ValueSource(strings = {"0000000012", "2147483647", "-2147483648", "-000000001", "-147483648"})
  void nameOfAnEntryOfOursIsWhatParsingMakesOfIt(String suffix) {
    UUID id = UUID.fromString("01234567-89ab-cdef-0123-456789abcdef");
    for (Mode mode :
        List.of(
            MutexKind.EXCLUSIVE,
            ReadWriteKind.READ,
            ReadWriteKind.WRITE,
            new PermitsKind.Permits(3, 17))) {
      // Given
      String text = EntryName.prefix(id, mode) + suffix;
      // When
      EntryName name = EntryName.of(text, id, mode);
      // Then
      assertThat(EntryName.parse(text)).contains(name);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "1", "00000000x2"})
  void whatHasNoNumberIsNoNameOfAnEntryOfOurs(String suffix) {
    // Given
    UUID id = new UUID(1, 2);
    String text = EntryName.prefix(id, MutexKind.EXCLUSIVE) + suffix;
    // Then
    assertThatIllegalArgumentException()
        .isThrownBy(() -> EntryName.of(text, id, MutexKind.EXCLUSIVE));
  }
}
