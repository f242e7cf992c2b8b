package io.lockkeeper.server.zookeeper.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.SessionEvent.AdoptedEntry;
import io.lockkeeper.server.core.api.SessionEvent.OrphanFound;
import io.lockkeeper.server.core.api.SessionEvent.SessionAdopted;
import io.lockkeeper.server.core.api.SessionEvent.SessionEnded;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent.CreatedEntry;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.zookeeper.Asked;
import io.lockkeeper.server.zookeeper.Ensemble;
import io.lockkeeper.server.zookeeper.ZooKeeperLockStore;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Several coordinators want the same session. */
final class AdoptionRaceIT {

  private static final int SESSIONS = 50;

  private final RecordedEvents lefts = new RecordedEvents();
  private final RecordedEvents rights = new RecordedEvents();
  @AutoClose private final Ensemble ensemble = Ensemble.shared();
  private final ZooKeeper truth = ensemble.client();
  private final ZooKeeperLockStore left = ensemble.store("left", lefts);
  private final ZooKeeperLockStore right = ensemble.store("right", rights);

  @BeforeEach
  void awaitMembers() {
    lefts.awaitCurrent();
    rights.awaitCurrent();
    AdoptionFixture.awaitMember(truth, "left");
    AdoptionFixture.awaitMember(truth, "right");
  }

  private static List<SessionEnded> ended(RecordedEvents events) {
    return events.all(SessionEnded.class);
  }

  @Test
  void ofTwoWhoAdoptAtTheSameInstantOneWinsAndTheOtherNeverAttaches() throws Exception {
    // Given
    RecordedEvents olds = new RecordedEvents();
    ZooKeeperLockStore old = ensemble.store("old", olds);
    List<CreatedEntry> entries = new ArrayList<>();
    for (int i = 1; i <= SESSIONS; i++) {
      SessionKey session = Asked.open(old, olds, i);
      entries.add(AdoptionFixture.hold(old, olds, session, "race/" + i));
    }
    old.leave();
    lefts.await(OrphanFound.class);
    rights.await(OrphanFound.class);
    List<String> claims = truth.getChildren("/lk/sessions", false);
    // When
    for (int i = 0; i < claims.size(); i++) {
      left.adoptSession(new StoreEffect.AdoptSession(new SessionKey(100 + i), claims.get(i)));
      right.adoptSession(new StoreEffect.AdoptSession(new SessionKey(100 + i), claims.get(i)));
    }
    // Then
    Awaitility.await("all answered")
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
      assertThat(AdoptionFixture.claim(truth, claim).getVersion()).isEqualTo(1);
    }
    for (CreatedEntry entry : entries) {
      assertThat(truth.exists(AdoptionFixture.path(entry), false).getCzxid())
          .isEqualTo(entry.czxid());
    }
  }

  @Test
  void sessionThatGoesBackAndForthKeepsItsEntryWhileTheEpochRises() throws Exception {
    // Given
    SessionKey session = Asked.open(left, lefts, 1);
    CreatedEntry entry = AdoptionFixture.hold(left, lefts, session, "ball");
    String claim = AdoptionFixture.onlyClaim(truth);
    // When
    for (int round = 0; round < 3; round++) {
      int epoch = 2 * round;
      AdoptionFixture.suspect(right, rights, "left");
      SessionAdopted there = AdoptionFixture.adopt(right, rights, 10 + round, claim);
      assertThat(AdoptionFixture.claim(truth, claim).getVersion()).isEqualTo(epoch + 1);
      AdoptionFixture.suspect(left, lefts, "right");
      SessionAdopted back = AdoptionFixture.adopt(left, lefts, 20 + round, claim);
      assertThat(AdoptionFixture.claim(truth, claim).getVersion()).isEqualTo(epoch + 2);
      assertThat(there.entries()).extracting(e -> e.read().token()).hasSize(1);
      assertThat(back.entries()).extracting(e -> e.read().token()).hasSize(1);
    }
    // Then
    assertThat(truth.exists(AdoptionFixture.path(entry), false).getCzxid())
        .isEqualTo(entry.czxid());
    right.proveSession(new StoreEffect.ProveSession(new SessionKey(12)));
    assertThat(rights.await(SessionEnded.class, e -> e.session().equals(new SessionKey(12))))
        .isEqualTo(new SessionEnded(new SessionKey(12), true));
    left.proveSession(new StoreEffect.ProveSession(new SessionKey(22)));
    long asked = System.nanoTime();
    left.proveSession(new StoreEffect.ProveSession(new SessionKey(22)));
    lefts.await(
        SessionEvent.SessionProved.class,
        proved -> proved.session().equals(new SessionKey(22)) && proved.sentAtNanos() - asked >= 0);
  }
}
