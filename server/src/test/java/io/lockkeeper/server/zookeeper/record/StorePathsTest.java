package io.lockkeeper.server.zookeeper.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.lock.PermitsKind.Permits;
import io.lockkeeper.server.core.lock.ReadWriteKind;
import io.lockkeeper.server.zookeeper.mirror.TieBreaks;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class StorePathsTest {

  private static final ZooKeeperSettings SETTINGS = ZooKeeperSettings.of("zk:2181", "c1", "a:1");
  private final StorePaths paths = new StorePaths(SETTINGS);

  @Test
  void placeOfAnEntryIsReadBackFromItsPath() {
    // Given
    LockName lock = new LockName("orders/42");
    String name = EntryName.prefix(UUID.randomUUID(), MutexKind.EXCLUSIVE) + "0000000007";
    // When
    Optional<ParsedPath> parsed = paths.place(paths.entry(lock, name));
    // Then
    assertThat(parsed)
        .contains(new ParsedPath.QueueEntry(lock, EntryName.parse(name).orElseThrow()));
    assertThat(paths.place(paths.directory(lock))).contains(new ParsedPath.QueueDirectory(lock));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "limit-7-0123456789ab-0000000003",
        "limit-7-0123456789ab-2147483647",
        "limit-7-0123456789ab--2147483648",
        "limit-7-0123456789ab--000000001",
        "delay-500-0123456789ab-0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
      })
  void markersHaveAPlaceOfTheirOwn(String text) {
    // Given
    LockName lock = new LockName("orders/42");
    MarkerName marker = MarkerName.parse(text).orElseThrow();
    // When
    Optional<ParsedPath> parsed = paths.place(paths.marker(lock, marker));
    // Then
    assertThat(parsed).contains(new ParsedPath.Marked(lock, marker));
    assertThat(marker.text()).isEqualTo(text);
    assertThat(EntryName.parse(text)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "2147483647",
        "-2147483648",
        "-2147483647",
        "-1000000000",
        "-999999999",
        "-000000001"
      })
  void everyNumberAtTheEndOfTheCounterIsTheSameNumber(String suffix) {
    for (Mode mode : List.of(MutexKind.EXCLUSIVE, ReadWriteKind.READ, new Permits(2, 3))) {
      // Given
      String text = EntryName.prefix(UUID.randomUUID(), mode) + suffix;
      // When
      EntryName name = EntryName.parse(text).orElseThrow();
      // Then
      assertThat(name.sequence()).isEqualTo(Integer.MAX_VALUE);
      assertThat(name.mode()).isEqualTo(mode);
      assertThat(name.text()).isEqualTo(text);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/lockkeeper/locks",
        "/lockkeeper/locks/",
        "/lockkeeper/locks/%zz",
        "/lockkeeper/locks/a/leases",
        "/lockkeeper/locks/a/_c_x-lock-0000000001",
        "/lockkeeper/locks/a/lock-0000000001/b",
        "/lockkeeper/locksmith/a",
        "/other"
      })
  void pathsOfNothingOfOursHaveNoPlace(String path) {
    // Then
    assertThat(paths.place(path)).isEmpty();
  }

  @Test
  void sizesAreThoseOfTheRealPaths() {
    // Given
    LockName lock = new LockName("a/b");
    String entry = EntryName.prefix(UUID.randomUUID(), MutexKind.EXCLUSIVE) + "0000000007";
    // Then
    assertThat(paths.pathBytes(lock, MutexKind.EXCLUSIVE))
        .isEqualTo(paths.entry(lock, entry).length() + 4);
    assertThat(paths.leasePathBytes()).isEqualTo(paths.lease(new LeaseId(1, 2)).length() + 4);
  }

  @Test
  void layoutHasParentsFirst() {
    // Then
    assertThat(new StorePaths(SETTINGS.withLocksPath("/x/y")).layout())
        .isEqualTo(
            List.of(
                "/x",
                "/x/y",
                "/lockkeeper",
                "/lockkeeper/leases",
                "/lockkeeper/sessions",
                "/lockkeeper/coordinators",
                "/lockkeeper/freezes"));
  }

  @Test
  void claimIsNamedAfterTheWholeSessionId() {
    // Then
    assertThat(StorePaths.claimName(0x1F)).isEqualTo("000000000000001f");
    assertThat(StorePaths.claimName(-1)).isEqualTo("ffffffffffffffff");
  }

  @Test
  void sessionTimeoutThatALeaderStallWouldOutlastIsRefused() {
    // Then
    assertThatThrownBy(
            () ->
                SETTINGS.withTimes(
                    Duration.ofSeconds(12), Duration.ofSeconds(6), Duration.ofSeconds(2), 5))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("12000 ms");
  }

  @Test
  void chrootInTheConnectStringIsRefused() {
    // Then
    assertThatThrownBy(() -> ZooKeeperSettings.of("zk:2181/chroot", "c1", "a:1"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("root");
  }

  @Test
  void tiesAreFoundByNumberAndNotByText() {
    // Given
    List<EntryName> entries =
        List.of("lock-0000000001", "lock-0000000002", "__READ__0000000002").stream()
            .map(text -> EntryName.parse(text).orElseThrow())
            .toList();
    // Then
    assertThat(TieBreaks.in(entries))
        .containsExactlyInAnyOrder("lock-0000000002", "__READ__0000000002");
  }
}
