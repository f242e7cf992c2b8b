package io.lockkeeper.server.zookeeper.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.lock.LockName;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which directories are known, and which have been empty for long enough. */
final class DirectoriesTest {

  private static final LockName LOCK = new LockName("jobs/1");
  private static final LockName OTHER = new LockName("jobs/2");
  private static final int IDLE = 5;
  private static final long CREATED = 0x100000007L;

  private final Directories directories = new Directories();

  private void ticks(int count) {
    for (int i = 0; i < count; i++) {
      directories.tick();
    }
  }

  private List<LockName> due() {
    return taken().stream().map(Directory::lock).toList();
  }

  private List<Directory> taken() {
    return directories.takeEmpty(IDLE, 100);
  }

  @Test
  void directoryIsDueWhenItHasBeenEmptyForLongEnough() {
    // Given
    directories.made(LOCK, CREATED);
    directories.entered(LOCK);
    directories.left(LOCK);
    ticks(IDLE - 1);
    List<LockName> before = due();
    // When
    ticks(1);
    // Then
    assertThat(before).isEmpty();
    assertThat(due()).containsExactly(LOCK);
  }

  @Test
  void directoryInUseIsNotDueUntilItsLastChildIsGone() {
    // Given
    directories.made(LOCK, CREATED);
    directories.entered(LOCK);
    directories.entered(LOCK);
    directories.left(LOCK);
    ticks(3 * IDLE);
    List<LockName> inUse = due();
    // When
    directories.left(LOCK);
    ticks(IDLE);
    // Then
    assertThat(inUse).isEmpty();
    assertThat(due()).containsExactly(LOCK);
  }

  @Test
  void directoryThatIsUsedAgainAndAgainIsNeverDue() {
    // Given
    directories.made(LOCK, CREATED);
    for (int i = 0; i < 10 * IDLE; i++) {
      // When
      directories.entered(LOCK);
      directories.left(LOCK);
      ticks(1);
      // Then
      assertThat(due()).isEmpty();
    }
  }

  @Test
  void directoryThatIsDoomedIsCreatedAgainByWhoeverNeedsIt() {
    // Given
    directories.made(LOCK, CREATED);
    ticks(IDLE);
    Directory directory = taken().get(0);
    // When
    directory.doom();
    // Then
    assertThat(directories.contains(LOCK)).isFalse();
    directories.deleted(directory);
    assertThat(directories.size()).isZero();
  }

  @Test
  void directoryThatWasCreatedAgainOutlivesTheAnswerToItsDeletion() {
    // Given
    directories.made(LOCK, CREATED);
    ticks(IDLE);
    Directory directory = taken().get(0);
    directory.doom();
    directories.remove(LOCK, CREATED + 1);
    directories.made(LOCK, CREATED + 2);
    // When
    directories.deleted(directory);
    // Then
    assertThat(directories.contains(LOCK)).isTrue();
  }

  @Test
  void deletionThatIsHeardOfAfterTheNextCreationLeavesTheDirectoryToBeReaped() {
    // Given
    directories.made(LOCK, CREATED);
    directories.made(LOCK, CREATED + 2);
    // When: the mirror is behind the session that has created it again
    directories.remove(LOCK, CREATED + 1);
    directories.add(LOCK);
    ticks(IDLE);
    // Then
    assertThat(due()).containsExactly(LOCK);
  }

  @Test
  void directoryThatWasMissedIsCreatedAgainAndStaysToBeReaped() {
    // Given: one session misses it after another has created it again
    directories.made(LOCK, CREATED);
    // When
    directories.doubt(LOCK);
    boolean counted = directories.contains(LOCK);
    directories.add(LOCK);
    ticks(IDLE);
    // Then
    assertThat(counted).isFalse();
    assertThat(due()).containsExactly(LOCK);
  }

  @Test
  void directoryPutBackIsDueOnceMoreAndOneThatIsGoneIsNot() {
    // Given
    directories.made(LOCK, CREATED);
    directories.made(OTHER, CREATED);
    ticks(IDLE);
    List<Directory> taken = taken();
    directories.remove(OTHER, CREATED + 1);
    // When
    directories.putBack(taken);
    ticks(IDLE);
    // Then
    assertThat(due()).containsExactly(LOCK);
  }

  @Test
  void listingTellsWhichDirectoriesAreEmpty() {
    // Given
    directories.made(LOCK, CREATED);
    directories.made(OTHER, CREATED);
    directories.replaceBy(List.of(LOCK, OTHER));
    directories.listed(LOCK, 0);
    directories.listed(OTHER, 2);
    // When
    ticks(IDLE);
    // Then
    assertThat(due()).containsExactly(LOCK);
  }

  @Test
  void directoryThatSomebodyElseHasCreatedIsNeverDue() {
    // Given
    directories.add(LOCK);
    directories.entered(OTHER);
    directories.left(OTHER);
    // When
    ticks(3 * IDLE);
    // Then
    assertThat(due()).isEmpty();
    assertThat(directories.contains(LOCK)).isTrue();
  }

  @Test
  void thoseThatWaitToBeDeletedAreBounded() {
    // Given
    int tooMany = Directories.MAX_EMPTY + 10;
    for (int i = 0; i < tooMany; i++) {
      directories.made(new LockName("n" + i), CREATED);
    }
    // When
    ticks(IDLE);
    int due = 0;
    int most = 0;
    for (int taken = -1; taken != 0; due += taken) {
      taken = directories.takeEmpty(IDLE, tooMany).size();
      most = Math.max(most, taken);
    }
    // Then
    assertThat(due).isEqualTo(Directories.MAX_EMPTY);
    assertThat(most).isEqualTo(Directories.MAX_LOOKS);
  }

  @Test
  void nodeNameOfAKnownDirectoryIsItsLock() {
    // Given
    directories.made(LOCK, CREATED);
    // When
    var known = directories.lock(LOCK.encoded());
    // Then
    assertThat(known.orElseThrow()).isSameAs(LOCK);
    assertThat(directories.lock(OTHER.encoded())).contains(OTHER);
    assertThat(directories.lock("a/b")).isEmpty();
  }
}
