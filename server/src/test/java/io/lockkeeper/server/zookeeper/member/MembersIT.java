package io.lockkeeper.server.zookeeper.member;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.coordinator.api.Peer;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.SessionEvent.OrphanFound;
import io.lockkeeper.server.core.api.SessionEvent.SessionAdopted;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.testing.ZooKeeperProxy;
import io.lockkeeper.server.zookeeper.Asked;
import io.lockkeeper.server.zookeeper.Ensemble;
import io.lockkeeper.server.zookeeper.ZooKeeperLockStore;
import io.lockkeeper.server.zookeeper.record.ZooKeeperSettings;
import io.lockkeeper.server.zookeeper.session.AdoptionFixture;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who is there, who is not, and who is taken for dead. */
final class MembersIT {

  private final RecordedEvents ones = new RecordedEvents();
  private final RecordedEvents twos = new RecordedEvents();
  private final List<List<Peer>> seen = new CopyOnWriteArrayList<>();
  @AutoClose private final Ensemble ensemble = Ensemble.shared();
  private final ZooKeeperProxy proxy = ensemble.proxy();
  private final ZooKeeper truth = ensemble.client();
  private final ZooKeeperLockStore one =
      ensemble.store(settings(proxy.connectString(), "one"), ones);
  private final ZooKeeperLockStore two =
      ensemble.store(settings(ensemble.server().connectString(), "two"), twos);

  @BeforeEach
  void start() {
    Asked.open(one, ones, 1);
    AdoptionFixture.hold(one, ones, new SessionKey(1), "held");
    two.watchPeers(seen::add);
    Awaitility.await("peers").until(() -> last().size() == 1);
  }

  private ZooKeeperSettings settings(String connect, String id) {
    return ensemble.settings(connect, id).withHome("home of " + id);
  }

  private List<Peer> last() {
    return seen.get(seen.size() - 1);
  }

  private long created(String id) throws Exception {
    return truth.exists("/lk/coordinators/" + id, false).getCzxid();
  }

  @Test
  void memberNodeThatSomebodyDeletesIsMadeAgain() throws Exception {
    // When
    truth.delete("/lk/coordinators/one", -1);
    // Then
    AdoptionFixture.awaitMember(truth, "one");
    Awaitility.await().until(() -> last().size() == 1);
    assertThat(one.stats()).containsEntry("member_nodes_remade", 1L);
  }

  @Test
  void nobodyIsTakenForDeadWhenAllMemberNodesVanishAtOnce() throws Exception {
    // Given
    long before = Math.max(created("one"), created("two"));
    Asked.open(two, twos, 1);
    // When
    truth.multi(
        List.of(Op.delete("/lk/coordinators/one", -1), Op.delete("/lk/coordinators/two", -1)));
    // Then
    AdoptionFixture.awaitMember(truth, "one");
    AdoptionFixture.awaitMember(truth, "two");
    assertThat(created("one")).isGreaterThan(before);
    assertThat(created("two")).isGreaterThan(before);
    Awaitility.await().until(() -> seen.size() > 2 && last().size() == 1);
    assertThat(twos.all(OrphanFound.class)).isEmpty();
    assertThat(ones.all(OrphanFound.class)).isEmpty();
  }

  @Test
  void predecessorAtTheSameHomeIsDeadForCertainWhileItsNodeIsStillThere() throws Exception {
    // Given
    proxy.blackhole();
    RecordedEvents nexts = new RecordedEvents();
    // When
    ZooKeeperLockStore next =
        ensemble.store(
            settings(ensemble.server().connectString(), "three").withHome("home of one"), nexts);
    SessionAdopted adopted = AdoptionFixture.adopt(next, nexts, 3);
    // Then
    assertThat(adopted.certain()).isTrue();
    assertThat(adopted.entries()).hasSize(1);
  }

  @Test
  void coordinatorThatIsCutOffLosesItsSessionsWhenItsMemberSessionEnds() {
    // Given: a member session that ends long before the lock session
    RecordedEvents briefs = new RecordedEvents();
    ZooKeeperProxy way = ensemble.proxy();
    ZooKeeperLockStore brief =
        ensemble.store(
            ensemble
                .settings(way.connectString(), "brief")
                .withTimes(Ensemble.SESSION, Duration.ofSeconds(2), Duration.ofMillis(200), 5),
            briefs);
    Asked.open(brief, briefs, 1);
    // When
    way.refuse();
    SessionAdopted adopted = AdoptionFixture.adopt(two, twos, 3);
    way.heal();
    // Then
    assertThat(adopted.certain()).isFalse();
    assertThat(briefs.await(SessionEvent.SessionEnded.class).deposed()).isTrue();
  }

  @Test
  void nothingIsClaimedBeforeTheMemberNodeIsThere() throws Exception {
    // Given
    RecordedEvents lates = new RecordedEvents();
    proxy.at(1, r -> r.contains("/lk/coordinators/late"), ZooKeeperProxy.Action.HOLD);
    ZooKeeperLockStore late = ensemble.store(settings(proxy.connectString(), "late"), lates);
    late.openSession(new StoreEffect.OpenSession(new SessionKey(1)));
    lates.awaitCurrent();
    late.barrier(new StoreEffect.Barrier(1));
    lates.await(StoreEvent.BarrierPassed.class);
    assertThat(proxy.pendingRules()).isZero();
    List<String> before = truth.getChildren("/lk/sessions", false);
    // When
    proxy.letGo();
    lates.await(SessionEvent.SessionOpened.class);
    // Then
    List<String> claims = truth.getChildren("/lk/sessions", false);
    claims.removeAll(before);
    assertThat(claims).hasSize(1);
    assertThat(AdoptionFixture.claim(truth, claims.get(0)).getCzxid())
        .isGreaterThan(created("late"));
    assertThat(twos.all(OrphanFound.class)).isEmpty();
  }

  @Test
  void claimThatNobodyCouldAttachByIsLeftAlone() throws Exception {
    // Given
    byte[] data = "{\"owner\":\"nobody\"}".getBytes(StandardCharsets.UTF_8);
    truth.create("/lk/sessions/00000000000000ff", data, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    // When
    one.stop();
    OrphanFound orphan = twos.await(OrphanFound.class);
    AdoptionFixture.adopt(two, twos, 3, orphan.claim());
    // Then
    assertThat(orphan.claim()).isNotEqualTo("00000000000000ff");
    assertThat(truth.exists("/lk/sessions/00000000000000ff", false).getVersion()).isZero();
  }
}
