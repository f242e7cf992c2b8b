package io.lockkeeper.server.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.EntryRef;
import io.lockkeeper.server.core.LockName;
import io.lockkeeper.server.core.PlannedEntry;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.apache.zookeeper.AsyncCallback.MultiCallback;
import org.apache.zookeeper.Op;
import org.junit.jupiter.api.Test;

final class OwnWritesTest {

  private static final LockName LOCK = new LockName("orders");

  private final StorePaths paths =
      new StorePaths(ZooKeeperSettings.of("127.0.0.1:1", "c", "a").withRoot("/lk"));
  private final Directories directories = new Directories();
  private final OwnWrites own = new OwnWrites();
  private final Transaction transaction =
      new Transaction(paths, directories, Op.check("/claim", 0));
  private int answers;

  /** Adds a creation; returns the path of the entry as ZooKeeper will have it. */
  private String created(LockName lock) {
    UUID id = UUID.randomUUID();
    PlannedEntry entry = Asked.planned(lock);
    new CreateEntries(paths, directories, id, List.of(entry), Asked.DETAILS, 0).addTo(transaction);
    return paths.entryPrefix(lock, id, entry.mode()) + "0000000012";
  }

  private MultiCallback leave() {
    return own.leaving(transaction.nodes(), (rc, path, context, results) -> answers++);
  }

  @Test
  void entryAndDirectoryThatAreBeingCreatedAreOwn() {
    // Given
    String entry = created(LOCK);
    // When
    leave();
    // Then
    assertThat(own.concerns(entry)).isTrue();
    assertThat(own.concerns(paths.directory(LOCK))).isTrue();
    assertThat(own.concerns(paths.directory(new LockName("invoices")))).isFalse();
    assertThat(own.concerns("/lk/locks/orders/_c_x-lock-0000000012")).isFalse();
  }

  @Test
  void entryThatIsBeingDeletedIsOwn() {
    // Given
    EntryRef ref = new EntryRef(LOCK, "_c_x-lock-0000000012", Optional.empty());
    DeleteEntries.of(paths, UUID.randomUUID(), List.of(ref)).addTo(transaction);
    // When
    leave();
    // Then
    assertThat(own.concerns("/lk/locks/orders/_c_x-lock-0000000012")).isTrue();
    assertThat(own.concerns("/lk/locks/orders/_c_y-lock-0000000012")).isFalse();
  }

  @Test
  void nothingIsOwnOnceItIsAnswered() {
    // Given
    String entry = created(LOCK);
    MultiCallback onReply = leave();
    // When
    onReply.processResult(0, null, null, List.of());
    // Then
    assertThat(own.concerns(entry)).isFalse();
    assertThat(own.concerns(paths.directory(LOCK))).isFalse();
    assertThat(answers).isOne();
  }

  @Test
  void eventsWithoutAPathOrWithAShortOneAreNobodys() {
    String entry = created(LOCK);
    leave();
    assertThat(own.concerns(entry)).isTrue();
    assertThat(own.concerns(null)).isFalse();
    assertThat(own.concerns("/lk")).isFalse();
    assertThat(own.concerns("")).isFalse();
  }
}
