package io.lockkeeper.server.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.core.SessionEvent;
import io.lockkeeper.server.core.SessionEvent.AdoptedEntry;
import io.lockkeeper.server.core.SessionEvent.OrphanFound;
import io.lockkeeper.server.core.SessionEvent.SessionAdopted;
import io.lockkeeper.server.core.SessionEvent.SessionEnded;
import io.lockkeeper.server.core.SessionKey;
import io.lockkeeper.server.core.StoreEvent.CreatedEntry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several coordinators want the same session. */
final class AdoptionRaceIT {

  private static final int SESSIONS = 50;

  @TempDir Path directory;

  private final RecordedEvents lefts = new RecordedEvents();
  private final RecordedEvents rights = new RecordedEvents();
  private Ensemble ensemble;
  private ZooKeeper truth;
  private ZooKeeperLockStore left;
  private ZooKeeperLockStore right;

  @BeforeEach
  void start() throws Exception {
    ensemble = Ensemble.in(directory);
    truth = ensemble.client();
    left = ensemble.store(ensemble.server().connectString(), "left", lefts);
    right = ensemble.store(ensemble.server().connectString(), "right", rights);
    lefts.awaitCurrent();
    rights.awaitCurrent();
    Adoptions.awaitMember(truth, "left");
    Adoptions.awaitMember(truth, "right");
  }

  @AfterEach
  void stop() throws Exception {
    ensemble.close();
  }

  private static List<SessionEnded> ended(RecordedEvents events) {
    return events.all(SessionEnded.class);
  }

  @Test
  void ofTwoWhoAdoptAtTheSameInstantOneWinsAndTheOtherNeverAttaches() throws Exception {
    // Given
    RecordedEvents olds = new RecordedEvents();
    ZooKeeperLockStore old = ensemble.store(ensemble.server().connectString(), "old", olds);
    List<CreatedEntry> entries = new ArrayList<>();
    for (int i = 1; i <= SESSIONS; i++) {
      SessionKey session = Asked.open(old, olds, i);
      entries.add(Adoptions.hold(old, olds, session, "race/" + i));
    }
    old.leave();
    lefts.await(OrphanFound.class);
    rights.await(OrphanFound.class);
    List<String> claims = truth.getChildren("/lk/sessions", false);
    // When
    for (int i = 0; i < claims.size(); i++) {
      left.adoptSession(new SessionKey(100 + i), claims.get(i));
      right.adoptSession(new SessionKey(100 + i), claims.get(i));
    }
    // Then
    Awaitility.await("all answered")
        .atMost(Duration.ofSeconds(40))
        .until(
            () ->
                Stream.of(lefts, rights)
                        .mapToInt(e -> ended(e).size() + e.all(SessionAdopted.class).size())
                        .sum()
                    == 2 * SESSIONS);
    assertThat(Stream.of(lefts, rights).flatMap(e -> e.all(SessionAdopted.class).stream()))
        .flatExtracting(SessionAdopted::entries)
        .extracting(AdoptedEntry::name)
        .containsExactlyInAnyOrderElementsOf(entries.stream().map(CreatedEntry::name).toList());
    assertThat(Stream.concat(ended(lefts).stream(), ended(rights).stream()))
        .hasSize(SESSIONS)
        .allMatch(SessionEnded::deposed);
    assertThat(Stream.of(left, right).mapToLong(store -> store.stats().get("adoptions_lost")).sum())
        .as("sessions that one of them could not claim, and so did not attach to")
        .isEqualTo(SESSIONS);
    for (String claim : claims) {
      assertThat(Adoptions.claim(truth, claim).getVersion()).isEqualTo(1);
    }
    for (CreatedEntry entry : entries) {
      assertThat(truth.exists(Adoptions.path(entry), false).getCzxid()).isEqualTo(entry.czxid());
    }
  }

  @Test
  void sessionThatGoesBackAndForthKeepsItsEntryWhileTheEpochRises() throws Exception {
    // Given
    SessionKey session = Asked.open(left, lefts, 1);
    CreatedEntry entry = Adoptions.hold(left, lefts, session, "ball");
    String claim = Adoptions.onlyClaim(truth);
    // When
    for (int round = 0; round < 3; round++) {
      int epoch = 2 * round;
      Adoptions.suspect(right, rights, "left");
      SessionAdopted there = Adoptions.adopt(right, rights, 10 + round, claim);
      assertThat(Adoptions.claim(truth, claim).getVersion()).isEqualTo(epoch + 1);
      Adoptions.suspect(left, lefts, "right");
      SessionAdopted back = Adoptions.adopt(left, lefts, 20 + round, claim);
      assertThat(Adoptions.claim(truth, claim).getVersion()).isEqualTo(epoch + 2);
      assertThat(there.entries()).extracting(e -> e.read().token()).hasSize(1);
      assertThat(back.entries()).extracting(e -> e.read().token()).hasSize(1);
    }
    // Then
    assertThat(truth.exists(Adoptions.path(entry), false).getCzxid()).isEqualTo(entry.czxid());
    right.proveSession(new SessionKey(12));
    assertThat(rights.await(SessionEnded.class, e -> e.session().equals(new SessionKey(12))))
        .isEqualTo(new SessionEnded(new SessionKey(12), true));
    left.proveSession(new SessionKey(22));
    long asked = System.nanoTime();
    left.proveSession(new SessionKey(22));
    lefts.await(
        SessionEvent.SessionProved.class,
        proved -> proved.session().equals(new SessionKey(22)) && proved.sentAtNanos() - asked >= 0);
  }
}
