package io.lockkeeper.server.zookeeper.commit;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.api.StoreEvent.DeletionDelayed;
import io.lockkeeper.server.core.api.StoreEvent.EntriesCreated;
import io.lockkeeper.server.core.api.StoreEvent.EntriesDeleted;
import io.lockkeeper.server.core.api.StoreEvent.EntriesRefused;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.PlannedEntry;
import io.lockkeeper.server.core.lock.ReadWriteKind;
import io.lockkeeper.server.zookeeper.Asked;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class GroupCommitTest extends CommitBench {

  @Test
  void idleWriteLeavesAtOnceAndBusyOnesGather() {
    // Given
    commit.open();
    // When
    createMany(InflightWindow.WORTH);
    // Then: one alone keeps nobody waiting, two do
    assertThat(sent).extracting(t -> t.writes().size()).containsExactly(1, 1);
    succeed();
    assertThat(sent)
        .extracting(t -> t.writes().size())
        .containsExactly(1, InflightWindow.WORTH - 2);
    createMany(InflightWindow.WORTH - 1);
    succeed();
    assertThat(sent).hasSize(1);
    succeed();
    assertThat(sent).extracting(t -> t.writes().size()).containsExactly(InflightWindow.WORTH - 1);
  }

  @Test
  void anotherTransactionLeavesOnceItIsWorthIt() {
    // Given
    commit.open();
    // When
    createMany(1 + InflightWindow.WORTH);
    // Then
    assertThat(sent).hasSize(2);
    createMany(1);
    assertThat(sent).extracting(t -> t.writes().size()).containsExactly(1, 1, InflightWindow.WORTH);
    createMany(100);
    assertThat(sent).hasSize(InflightWindow.MAX_TRANSACTIONS);
  }

  private void createMany(int count) {
    for (int i = 0; i < count; i++) {
      create(LOCK);
    }
  }

  @Test
  void entriesOfOneLockInOneTransactionHaveRisingIndexes() {
    // Given
    List<UUID> ids = List.of(create(LOCK), create(LOCK), create(LOCK));
    // When
    commit.open();
    succeed();
    // Then
    List<EntriesCreated> created = events.stream().map(EntriesCreated.class::cast).toList();
    assertThat(created).extracting(EntriesCreated::id).isEqualTo(ids);
    assertThat(created).extracting(c -> c.entries().get(0).index()).containsExactly(0, 1, 2);
  }

  @Test
  void entryOfAnEnsembleThatWentBackIsNeverTold() {
    // Given
    commit.open();
    create(LOCK);
    succeed();
    create(LOCK);
    events.clear();
    // When
    zxid = 5;
    succeed();
    // Then
    assertThat(events).isEmpty();
    assertThat(unusable).singleElement().asString().contains("0x5", "--allow-token-reset");
  }

  @Test
  void transactionsUnderWayAtOnceMayBeAnsweredInAnyOrder() {
    // Given
    commit.open();
    create(LOCK);
    create(LOCK);
    assertThat(sent).hasSize(2);
    // When
    succeed();
    zxid = 5;
    succeed();
    // Then
    assertThat(events).hasSize(2);
    assertThat(unusable).isEmpty();
  }

  @Test
  void unknownDirectoryIsCreatedOnceAheadOfItsFirstEntry() {
    // Given
    create(LOCK);
    create(LOCK);
    // When
    commit.open();
    // Then
    List<Integer> types = sent.element().ops().stream().map(Op::getType).toList();
    assertThat(types)
        .containsExactly(OpCode.check, OpCode.createContainer, OpCode.create2, OpCode.create2);
  }

  @Test
  void directoryThatExistsAlreadyIsLeftOutOfTheNextAttempt() {
    // Given
    create(LOCK);
    commit.open();
    // When
    fail(1, Code.NODEEXISTS);
    // Then
    assertThat(sent.element().ops())
        .extracting(Op::getType)
        .containsExactly(OpCode.check, OpCode.create2);
  }

  @Test
  void directoryThatWasReapedIsCreatedInTheNextAttempt() {
    // Given
    directories.add(LOCK);
    create(LOCK);
    commit.open();
    // When
    fail(1, Code.NONODE);
    // Then
    assertThat(sent.element().ops())
        .extracting(Op::getType)
        .containsExactly(OpCode.check, OpCode.createContainer, OpCode.create2);
  }

  @Test
  void oneBadWriteFailsAloneAndTheOthersGoAgainInTheirOrder() {
    // Given
    directories.add(LOCK);
    UUID first = create(LOCK);
    UUID bad = create(LOCK);
    UUID third = delete("x");
    commit.open();
    // When
    fail(2, Code.QUOTAEXCEEDED);
    succeed();
    // Then
    assertThat(events).hasSize(3);
    assertThat(events.get(0))
        .isInstanceOfSatisfying(
            EntriesRefused.class,
            e -> {
              assertThat(e.id()).isEqualTo(bad);
              assertThat(e.message()).contains("QUOTAEXCEEDED");
            });
    assertThat(((EntriesCreated) events.get(1)).id()).isEqualTo(first);
    assertThat(events.get(2)).isEqualTo(new EntriesDeleted(third));
  }

  @Test
  void deletionOfWhatIsGoneIsDone() {
    // Given
    UUID id = delete("x");
    commit.open();
    // When
    fail(1, Code.NONODE);
    // Then
    assertThat(events).containsExactly(new EntriesDeleted(id));
    assertThat(sent).isEmpty();
  }

  @Test
  void brokenFenceEndsEverything() {
    // Given
    create(LOCK);
    commit.open();
    // When
    fail(0, Code.BADVERSION);
    // Then
    assertThat(fenceFailed).isTrue();
    assertThat(events).isEmpty();
    assertThat(sent).isEmpty();
  }

  @Test
  void nothingIsSentWhileSomethingIsInDoubt() {
    // Given
    create(LOCK);
    commit.open();
    // When
    failWhole(Code.CONNECTIONLOSS);
    create(LOCK);
    // Then
    assertThat(doubt).isTrue();
    assertThat(commit.inDoubt()).hasSize(1);
    assertThat(sent).isEmpty();
    assertThat(events).isEmpty();
  }

  @Test
  void failureThatNamesNobodyIsRepeatedWriteByWrite() {
    // Given
    directories.add(LOCK);
    UUID good = create(LOCK);
    UUID bad = create(LOCK);
    commit.open();
    // When
    failWhole(Code.MARSHALLINGERROR);
    assertThat(sent).hasSize(2).allMatch(transaction -> transaction.writes().size() == 1);
    succeed();
    assertThat(sent).hasSize(1).allMatch(transaction -> transaction.writes().size() == 1);
    failWhole(Code.MARSHALLINGERROR);
    // Then
    assertThat(((EntriesCreated) events.get(0)).id()).isEqualTo(good);
    assertThat(((EntriesRefused) events.get(1)).id()).isEqualTo(bad);
  }

  @Test
  void transactionsStayWithinTheirBounds() {
    // Given
    EntryDetails heavy = Asked.details(Map.of("k", "x".repeat(4_000)));
    for (int i = 0; i < 500; i++) {
      List<PlannedEntry> entries = List.of(Asked.planned(LOCK));
      commit.add(
          Asked.creation(context, UUID.randomUUID(), entries, i % 2 == 0 ? heavy : DETAILS, 0));
    }
    // When
    commit.open();
    // Then
    while (!sent.isEmpty()) {
      assertThat(sent.element().size()).isLessThanOrEqualTo(WaitingWrites.MAX_OPERATIONS + 1);
      assertThat(sent.element().bytes()).isLessThanOrEqualTo(WaitingWrites.MAX_BYTES);
      succeed();
    }
    assertThat(events).hasSize(500);
  }

  private UUID createBeside(EntryName other) {
    UUID id = UUID.randomUUID();
    PlannedEntry.Beside beside = new PlannedEntry.Beside(other, new FencingToken(5));
    PlannedEntry entry = new PlannedEntry(LOCK, ReadWriteKind.READ, Optional.of(beside));
    commit.add(creation(id, List.of(entry), 0));
    return id;
  }

  private UUID createGuarded() {
    UUID id = UUID.randomUUID();
    commit.add(creation(id, List.of(Asked.planned(LOCK)), 700));
    return id;
  }

  private List<Integer> typesSent() {
    return sent.element().ops().stream().map(Op::getType).toList();
  }

  @Test
  void placedEntryIsCreatedByItsNameBehindACheckOfItsNeighbour() {
    // Given
    EntryName other = EntryName.parse("__WRIT__0000000007").orElseThrow();
    UUID id = createBeside(other);
    // When
    commit.open();
    // Then
    List<Op> ops = sent.element().ops();
    assertThat(typesSent()).containsExactly(OpCode.check, OpCode.check, OpCode.create2);
    assertThat(ops.get(1).getPath()).isEqualTo("/lockkeeper/locks/a/__WRIT__0000000007");
    assertThat(ops.get(2).getPath())
        .isEqualTo("/lockkeeper/locks/a/_c_" + id + "-__READ__0000000007");
  }

  private static EntryName placed(UUID id) {
    return EntryName.parse("_c_" + id + "-__READ__0000000007").orElseThrow();
  }

  @Test
  void entryIsPlacedOnlyOnceTheCreationOfItsNeighbourIsAnswered() {
    // Given
    directories.add(LOCK);
    commit.open();
    UUID neighbour = createBeside(EntryName.parse("__WRIT__0000000007").orElseThrow());
    UUID next = createBeside(placed(neighbour));
    UUID last = createBeside(placed(next));
    // When: others leave meanwhile, so it would have left with them
    createMany(1 + InflightWindow.WORTH);
    // Then
    assertThat(sent).extracting(t -> t.writes().size()).containsExactly(1, 1, InflightWindow.WORTH);
    succeed();
    succeed();
    succeed();
    succeed();
    assertThat(events.stream().map(EntriesCreated.class::cast).map(EntriesCreated::id))
        .startsWith(neighbour)
        .endsWith(next)
        .doesNotContain(last);
    succeed();
    assertThat(((EntriesCreated) events.get(events.size() - 1)).id()).isEqualTo(last);
  }

  @Test
  void entryWhoseNeighbourWasRefusedIsRefusedForTheLackOfIt() {
    // Given
    directories.add(LOCK);
    commit.open();
    UUID neighbour = createBeside(EntryName.parse("__WRIT__0000000007").orElseThrow());
    UUID next = createBeside(placed(neighbour));
    // When
    fail(1, Code.NONODE);
    fail(1, Code.NONODE);
    // Then
    assertThat(events)
        .extracting(event -> ((EntriesRefused) event).id())
        .containsExactly(neighbour, next);
    assertThat(sent).isEmpty();
  }

  @Test
  void placedEntryWhoseNeighbourIsGoneIsRefusedAndTheOthersGoOn() {
    // Given
    directories.add(LOCK);
    UUID before = create(LOCK);
    UUID placed = createBeside(EntryName.parse("__WRIT__0000000007").orElseThrow());
    UUID after = create(LOCK);
    commit.open();
    // When
    fail(2, Code.NONODE);
    succeed();
    // Then
    EntriesRefused refused = (EntriesRefused) events.get(0);
    assertThat(refused.id()).isEqualTo(placed);
    assertThat(refused.message()).contains("the entry of a", "does not exist any more");
    assertThat(events.subList(1, 3))
        .extracting(event -> ((EntriesCreated) event).id())
        .containsExactly(before, after);
  }

  @Test
  void guardIsCreatedBehindItsEntry() {
    // Given
    directories.add(LOCK);
    UUID id = createGuarded();
    // When
    commit.open();
    // Then
    assertThat(typesSent()).containsExactly(OpCode.check, OpCode.create2, OpCode.create);
    assertThat(sent.element().ops().get(2).getPath())
        .isEqualTo("/lockkeeper/locks/a/delay-700-000000000000-" + id);
  }

  @Test
  void entryWhoseGuardIsThereAlreadyIsRefused() {
    // Given
    directories.add(LOCK);
    UUID id = createGuarded();
    UUID other = create(LOCK);
    commit.open();
    // When
    fail(2, Code.NODEEXISTS);
    succeed();
    // Then
    assertThat(events).first().isInstanceOf(EntriesRefused.class);
    assertThat(((EntriesRefused) events.get(0)).id()).isEqualTo(id);
    assertThat(((EntriesRefused) events.get(0)).message()).contains("somebody else removed");
    assertThat(((EntriesCreated) events.get(1)).id()).isEqualTo(other);
  }

  @Test
  void sixtyFourLocksSurviveEveryDirectoryBeingOtherThanBelieved() {
    // Given
    List<PlannedEntry> entries = new ArrayList<>();
    for (int i = 0; i < 64; i++) {
      entries.add(Asked.planned(new LockName("l/" + i)));
      if (i % 2 == 0) {
        directories.add(new LockName("l/" + i));
      }
    }
    UUID id = UUID.randomUUID();
    commit.add(creation(id, entries, 700));
    commit.open();
    // When: each directory that is believed in is gone, each other one is there
    Set<String> missing = new HashSet<>();
    for (int i = 0; i < 64; i += 2) {
      missing.add(paths.directory(new LockName("l/" + i)));
    }
    int attempts = 0;
    while (failOnce(missing)) {
      attempts++;
    }
    succeed();
    // Then
    assertThat(attempts).isEqualTo(64);
    assertThat(((EntriesCreated) events.get(0)).entries()).hasSize(64);
    assertThat(events).hasSize(1);
  }

  /** Fails the transaction as ZooKeeper would; returns whether there was a reason. */
  private boolean failOnce(Set<String> missing) {
    List<Op> ops = sent.element().ops();
    Set<String> createdBefore = new HashSet<>();
    for (int i = 1; i < ops.size(); i++) {
      String path = ops.get(i).getPath();
      boolean directory = ops.get(i).getType() == OpCode.createContainer;
      if (directory && !missing.contains(path)) {
        fail(i, Code.NODEEXISTS);
        return true;
      }
      String parent = path.substring(0, path.lastIndexOf('/'));
      if (directory) {
        createdBefore.add(path);
      } else if (missing.contains(parent) && !createdBefore.contains(parent)) {
        fail(i, Code.NONODE);
        return true;
      }
    }
    return false;
  }

  @Test
  void writeThatFailsAgainAndAgainGoesAloneSoThatOthersDoNotFailWithIt() {
    // Given
    directories.add(LOCK);
    List<EntryRef> gone = new ArrayList<>();
    for (int i = 0; i < 64; i++) {
      gone.add(new EntryRef(LOCK, "x" + i, Optional.of("g" + i)));
    }
    UUID id = UUID.randomUUID();
    commit.add(EntryDeletion.of(paths, id, gone));
    UUID other = create(LOCK);
    commit.open();
    // When
    int together = 0;
    while (events.stream().noneMatch(new EntriesDeleted(id)::equals)) {
      Transaction next = sent.element();
      boolean fails = next.ops().get(1).getType() == OpCode.delete;
      together += fails && next.writes().size() > 1 ? 1 : 0;
      if (fails) {
        fail(1, Code.NONODE);
      } else {
        succeed();
      }
    }
    while (!sent.isEmpty()) {
      succeed();
    }
    // Then
    assertThat(together).isLessThanOrEqualTo(4);
    assertThat(events).hasSize(2);
    assertThat(events).anyMatch(e -> e instanceof EntriesCreated c && c.id().equals(other));
    assertThat(commit.delayed()).isZero();
  }

  @ParameterizedTest
  @EnumSource(
      value = Code.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"OK", "RUNTIMEINCONSISTENCY"})
  void everyCodeOfEveryOperationLeavesEachWriteAnsweredOnceOrStillOwed(Code code) {
    for (int index = 1; index <= 4; index++) {
      // Given
      GroupCommitTest fresh = new GroupCommitTest();
      fresh.directories.add(LOCK);
      fresh.create(LOCK);
      fresh.delete("x");
      fresh.commit.add(fresh.record(new LeaseId(1, 2)));
      fresh.commit.add(fresh.erasure(new LeaseId(3, 4)));
      fresh.commit.open();
      // When
      fresh.fail(index, code);
      while (!fresh.sent.isEmpty()) {
        fresh.succeed();
      }
      // Then
      int doubts = fresh.commit.inDoubt().size();
      int delayed = fresh.commit.delayed();
      int waiting = fresh.commit.waiting();
      // That it is tried on is no answer.
      long answers = fresh.events.stream().filter(e -> !(e instanceof DeletionDelayed)).count();
      assertThat(answers + doubts + delayed + waiting).as("at " + index).isEqualTo(4);
      assertThat(waiting == 0 || doubts > 0).as("waits only for doubts, at " + index).isTrue();
      assertThat(fresh.events).doesNotHaveDuplicates();
    }
  }

  @Test
  void directoryThatIsClosedToUsIsNoReasonToLookAtTheWholeLayout() {
    // Given
    directories.add(LOCK);
    create(LOCK);
    commit.open();
    // When
    fail(1, Code.NOAUTH);
    // Then
    assertThat(events).hasOnlyElementsOfType(EntriesRefused.class).hasSize(1);
    assertThat(layoutMissing).isZero();
    // When: it is a node of the layout
    commit.add(record(new LeaseId(1, 2)));
    fail(1, Code.NOAUTH);
    // Then
    assertThat(layoutMissing).isEqualTo(1);
  }
}
