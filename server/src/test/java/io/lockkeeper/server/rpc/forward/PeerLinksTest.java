package io.lockkeeper.server.rpc.forward;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.inprocess.InProcessChannelBuilder;
import io.lockkeeper.server.coordinator.api.LeaseLocation;
import io.lockkeeper.server.coordinator.api.Peer;
import io.lockkeeper.server.core.api.Failure.Reason;
import io.lockkeeper.server.rpc.LeasedCall;
import io.lockkeeper.server.rpc.Node;
import io.lockkeeper.server.rpc.Received;
import io.lockkeeper.server.rpc.call.RpcStats;
import io.lockkeeper.server.testing.FakeCoordinator;
import io.lockkeeper.server.testing.Ports;
import io.lockkeeper.server.testing.ViewSamples;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** How a coordinator finds out that another one is gone. */
class PeerLinksTest {

  private static final LeasedCall<?, ?, ?> RELEASE = LeasedCall.all().get(0);

  @AutoClose private final Node here = Node.start("here");

  @Test
  void peerThatWasThereAndRefusesConnectionsIsSuspectedThoughNobodyAsksForIt() {
    // Given
    try (Node there = Node.start("there")) {
      here.coordinator.meets(there.peer());
      await().until(() -> here.services.peers().knows("there"));
      // When
      there.die();
      // Then
      assertThat(here.coordinator.suspects.next()).isEqualTo("there");
      assertThat(here.stats().suspicions.sum()).isOne();
    }
  }

  @Test
  void peerThatWasNeverReachedIsNotSuspectedWhileNobodyAsksForIt() {
    // Given
    try (Node there = Node.start("there")) {
      here.coordinator.meets(new Peer("never", "127.0.0.1:" + Ports.free()), there.peer());
      await().until(() -> here.services.peers().knows("there"));
      // When
      there.die();
      // Then
      assertThat(here.coordinator.suspects.next()).isEqualTo("there");
      assertThat(here.coordinator.suspects.isEmpty()).isTrue();
    }
  }

  @Test
  void peerThatCannotBeReachedIsSuspectedWhenAClientHasAskedForItLongEnough() {
    // Given
    here.coordinator.servedBy(new LeaseLocation.At(new Peer("gone", "127.0.0.1:" + Ports.free())));
    // When
    Received<?, ?> client = RELEASE.on(here.channel);
    RELEASE.refuse(here, Reason.UNKNOWN_LEASE);
    // Then
    assertThat(here.coordinator.suspects.next()).isEqualTo("gone");
    client.cancel();
  }

  @Test
  void peerThatTakesConnectionsAndSaysNothingIsSuspectedWhenAClientAsksForIt() throws IOException {
    // Given
    try (ServerSocket mute = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Node heir = Node.start("heir")) {
      here.coordinator.servedBy(
          new LeaseLocation.At(new Peer("mute", "127.0.0.1:" + mute.getLocalPort())));
      // When
      Received<?, ?> client = RELEASE.on(here.channel);
      RELEASE.refuse(here, Reason.UNKNOWN_LEASE);
      assertThat(here.coordinator.suspects.next()).isEqualTo("mute");
      here.knows(heir);
      RELEASE.answer(heir);
      // Then
      assertThat(client.end().isOk()).isTrue();
    }
  }

  @Test
  void suspicionIsToldAgainWhileAClientAsksForWhatThePeerHas() {
    // Given: a peer that never answers here, and that others may see
    here.coordinator.servedBy(new LeaseLocation.At(new Peer("gone", "127.0.0.1:" + Ports.free())));
    Received<?, ?> client = RELEASE.on(here.channel);
    // When
    RELEASE.refuse(here, Reason.UNKNOWN_LEASE);
    // Then
    assertThat(here.coordinator.suspects.next()).isEqualTo("gone");
    assertThat(here.coordinator.suspects.next()).isEqualTo("gone");
    client.cancel();
  }

  @Test
  void whatSetsOutForAPeerThatHasJustBeenSuspectedIsToldOfTheSilence() {
    // Given
    PeerLink link =
        here.services.peers().link(new Peer("gone", "127.0.0.1:" + Ports.free())).orElseThrow();
    link.suspect("the test says so");
    AtomicInteger told = new AtomicInteger();
    // When
    boolean entered = link.enter(told::incrementAndGet);
    // Then
    assertThat(entered).isTrue();
    assertThat(told).hasValue(1);
  }

  @Test
  void peerThatIsSlowWithOneAnswerAndHealthyIsNotSuspected() {
    // Given
    try (Node there = Node.start("there")) {
      here.knows(there);
      Received<?, ?> client = RELEASE.on(here.channel);
      RELEASE.refuse(here, Reason.UNKNOWN_LEASE);
      // When: far longer than a silent one would be believed to live
      await()
          .pollDelay(Node.LIMITS.untilSuspected().multipliedBy(3))
          .until(() -> here.services.peers().knows("there"));
      RELEASE.answer(there);
      // Then
      assertThat(client.end().isOk()).isTrue();
      assertThat(here.coordinator.suspects.isEmpty()).isTrue();
    }
  }

  @Test
  void coordinatorIsToldHowManyPeersServe() {
    // Given
    try (Node there = Node.start("there")) {
      here.coordinator.meets(there.peer());
      assertThat(here.coordinator.peersServing.next()).isOne();
      // When
      there.coordinator.is(ViewSamples.cutOff());
      // Then
      assertThat(here.coordinator.peersServing.next()).isZero();
      // When
      there.coordinator.is(ViewSamples.serving());
      assertThat(here.coordinator.peersServing.next()).isOne();
      there.die();
      // Then
      assertThat(here.coordinator.peersServing.next()).isZero();
    }
  }

  @Test
  void peerThatLivesAndCannotServeIsNotAskedButSuspected() {
    // Given
    try (Node there = Node.start("there");
        Node heir = Node.start("heir")) {
      there.coordinator.is(ViewSamples.cutOff());
      here.knows(there);
      here.coordinator.meets(there.peer());
      PeerLink link = here.services.peers().link(there.peer()).orElseThrow();
      await().until(() -> !link.mayBeAsked());
      assertThat(here.coordinator.suspects.next()).isEqualTo("there");
      // When
      Received<?, ?> client = RELEASE.on(here.channel);
      RELEASE.refuse(here, Reason.UNKNOWN_LEASE);
      // Then
      assertThat(here.coordinator.suspects.next()).isEqualTo("there");
      here.knows(heir);
      RELEASE.answer(heir);
      assertThat(client.end().isOk()).isTrue();
    }
  }

  @Test
  void peerThatCannotServeIsNotSuspectedByOneThatCannotEither() {
    // Given
    try (Node there = Node.start("there")) {
      here.knows(there);
      here.coordinator.is(ViewSamples.cutOff());
      there.coordinator.is(ViewSamples.cutOff());
      here.coordinator.meets(there.peer());
      await().until(() -> here.services.peers().knows("there"));
      PeerLink link = here.services.peers().link(there.peer()).orElseThrow();
      // When
      await().during(Node.LIMITS.untilSuspected().multipliedBy(3)).until(link::mayBeAsked);
      // Then
      assertThat(here.coordinator.suspects.isEmpty()).isTrue();
      here.coordinator.is(ViewSamples.serving());
      await().until(() -> !link.mayBeAsked());
      assertThat(here.coordinator.suspects.next()).isEqualTo("there");
      there.coordinator.is(ViewSamples.serving());
      await().until(link::mayBeAsked);
    }
  }

  @Test
  void listsThatOvertakeEachOtherLeaveTheLinksOfTheNewest() {
    // Given
    Peer gone = new Peer("gone", "gone:1");
    Peer living = new Peer("living", "living:1");
    Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    List<String> dialled = new CopyOnWriteArrayList<>();
    FakeCoordinator coordinator = new FakeCoordinator();
    PeerSetup setup =
        new PeerSetup(
            "own",
            Node.LIMITS,
            address -> {
              dialled.add(address);
              return InProcessChannelBuilder.forName(address);
            });
    ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    try (PeerLinks peers = new PeerLinks(coordinator, setup, tasks::add, timer, new RpcStats())) {
      peers.start();
      coordinator.meets(gone);
      coordinator.meets(living);
      // When
      List<Runnable> waiting = new ArrayList<>(tasks);
      Collections.reverse(waiting);
      waiting.forEach(Runnable::run);
      // Then
      assertThat(peers.link(living)).isPresent();
      assertThat(dialled).containsExactly("living:1");
    } finally {
      timer.shutdownNow();
    }
  }

  @Test
  void linksToPeersThatAreGoneFromTheMembersAreClosed() {
    // Given
    try (Node there = Node.start("there")) {
      here.coordinator.meets(there.peer());
      await().until(() -> here.services.peers().knows("there"));
      // When
      here.coordinator.meets();
      // Then
      await().until(() -> !here.services.peers().knows("there"));
      there.die();
      await().during(Duration.ofMillis(300)).until(() -> here.coordinator.suspects.isEmpty());
    }
  }
}
