package io.lockkeeper.server.zookeeper.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.core.api.SessionEvent.AdoptedEntry;
import io.lockkeeper.server.core.api.SessionEvent.OrphanFound;
import io.lockkeeper.server.core.api.SessionEvent.SessionAdopted;
import io.lockkeeper.server.core.api.SessionEvent.SessionEnded;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent.CreatedEntry;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.testing.ZooKeeperProxy;
import io.lockkeeper.server.testing.ZooKeeperProxy.Action;
import io.lockkeeper.server.zookeeper.Asked;
import io.lockkeeper.server.zookeeper.Ensemble;
import io.lockkeeper.server.zookeeper.ZooKeeperLockStore;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Adoptions whose connection breaks on the way, and those that come too late. */
final class AdoptionDoubtIT {

  private static final SessionKey ONE = new SessionKey(1);
  private static final SessionKey TAKEN = new SessionKey(7);

  private final RecordedEvents olds = new RecordedEvents();
  private final RecordedEvents news = new RecordedEvents();
  @AutoClose private final Ensemble ensemble = Ensemble.shared();
  private final ZooKeeperProxy proxy = ensemble.proxy();
  private final ZooKeeper truth = ensemble.client();
  private final ZooKeeperLockStore next = ensemble.store(proxy.connectString(), "next", news);

  @BeforeEach
  void awaitCurrent() {
    news.awaitCurrent();
  }

  private CreatedEntry hold(ZooKeeperLockStore old, String lock) {
    Asked.open(old, olds, 1);
    return AdoptionFixture.hold(old, olds, ONE, lock);
  }

  @ParameterizedTest
  @EnumSource(
      value = Action.class,
      names = {"CUT_BEFORE", "CUT_AFTER"})
  void claimIsTakenOnceWhereverTheConnectionBreaks(Action action) throws Exception {
    // Given
    ZooKeeperLockStore old = ensemble.store("old", olds);
    CreatedEntry entry = hold(old, "doubt");
    String claim = AdoptionFixture.onlyClaim(truth);
    old.stop();
    news.await(OrphanFound.class);
    proxy.at(1, OpCode.setData, action);
    // When
    SessionAdopted adopted = AdoptionFixture.adopt(next, news, 7);
    // Then
    assertThat(adopted.entries()).extracting(AdoptedEntry::name).containsExactly(entry.name());
    assertThat(AdoptionFixture.claim(truth, claim).getVersion()).isEqualTo(1);
    assertThat(proxy.pendingRules()).isZero();
  }

  @ParameterizedTest
  @EnumSource(
      value = Action.class,
      names = {"CUT_BEFORE", "CUT_AFTER"})
  void stockIsTakenAnewWhenTheConnectionBreaksMeanwhile(Action action) {
    // Given
    ZooKeeperLockStore old = ensemble.store("old", olds);
    CreatedEntry entry = hold(old, "stock");
    old.stop();
    news.await(OrphanFound.class);
    proxy.at(1, OpCode.getEphemerals, action);
    proxy.at(1, r -> r.opcode() == OpCode.multiRead && r.contains("/lk/locks/"), action);
    // When
    SessionAdopted adopted = AdoptionFixture.adopt(next, news, 7);
    // Then
    assertThat(adopted.entries()).extracting(AdoptedEntry::name).containsExactly(entry.name());
    assertThat(news.all(SessionAdopted.class)).hasSize(1);
    assertThat(proxy.pendingRules()).isZero();
  }

  @Test
  void sessionThatIsGoneIsFoundOutByAttachingAndItsClaimIsRemoved() throws Exception {
    // Given
    ZooKeeperLockStore old = ensemble.store(ensemble.brief("old"), olds);
    CreatedEntry entry = hold(old, "late");
    old.stop();
    OrphanFound orphan = news.await(OrphanFound.class);
    AdoptionFixture.awaitGone(truth, AdoptionFixture.path(entry));
    // When
    next.adoptSession(new StoreEffect.AdoptSession(TAKEN, orphan.claim()));
    // Then
    assertThat(news.await(SessionEnded.class)).isEqualTo(new SessionEnded(TAKEN, false));
    Awaitility.await().until(() -> truth.getChildren("/lk/sessions", false).isEmpty());
    assertThat(next.stats()).containsEntry("adoptions_too_late", 1L);
    Awaitility.await("counted").until(() -> next.stats().get("claims_removed") == 1);
  }

  @Test
  void orphanIsToldAgainWhileNobodyHasTakenIt() {
    // Given
    ZooKeeperLockStore old = ensemble.store("old", olds);
    hold(old, "again");
    // When
    old.stop();
    // Then
    Awaitility.await().until(() -> news.all(OrphanFound.class).size() >= 3);
    AdoptionFixture.adopt(next, news, 7);
  }

  @Test
  void adoptionThatIsCutOffForLongIsGivenUpByZooKeeperAlone() throws Exception {
    // Given
    ZooKeeperLockStore old = ensemble.store(ensemble.brief("old"), olds);
    CreatedEntry entry = hold(old, "cut");
    old.stop();
    OrphanFound orphan = news.await(OrphanFound.class);
    proxy.at(1, OpCode.getEphemerals, Action.CUT_AFTER);
    proxy.at(1, r -> r.opcode() == OpCode.getEphemerals, Action.CUT_AFTER);
    // When
    next.adoptSession(new StoreEffect.AdoptSession(TAKEN, orphan.claim()));
    Awaitility.await().until(() -> proxy.pendingRules() == 0);
    proxy.refuse();
    AdoptionFixture.awaitGone(truth, AdoptionFixture.path(entry));
    proxy.heal();
    // Then
    assertThat(news.await(SessionEnded.class)).isEqualTo(new SessionEnded(TAKEN, false));
    Awaitility.await().until(() -> truth.getChildren("/lk/sessions", false).isEmpty());
    assertThat(news.all(SessionAdopted.class)).isEmpty();
  }
}
