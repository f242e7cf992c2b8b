package io.lockkeeper.server.rpc.forward;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** How a coordinator finds out that another one is gone. */
class PeerLinksTest {

  private static final LeasedCall<?, ?, ?> RELEASE = LeasedCall.all().get(0);

  @AutoClose private final Node here = Node.start("here");

  private final List<Logger> loggers =
      Stream.of(PeerLink.class, PeerLinks.class)
          .map(type -> (Logger) LoggerFactory.getLogger(type))
          .toList();
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

  @BeforeEach
  void listen() {
    lines.start();
    loggers.forEach(logger -> logger.setLevel(Level.WARN));
    loggers.forEach(logger -> logger.addAppender(lines));
  }

  @AfterEach
  void listenNoMore() {
    loggers.forEach(logger -> logger.detachAppender(lines));
    loggers.forEach(logger -> logger.setLevel(null));
  }

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
  void peerThatComesAgainWithAnUnusableAddressIsLoggedAgain() {
    // Given
    Peer odd = new Peer("odd", "no host:7420");
    try (Node there = Node.start("there")) {
      here.coordinator.meets(odd);
      await().until(() -> lines.list.size() == 1);
      here.coordinator.meets(there.peer());
      await().until(() -> here.services.peers().knows("there"));
      // When
      here.coordinator.meets(odd, there.peer());
      // Then
      await().until(() -> lines.list.size() == 2);
      assertThat(lines.list.get(1).getFormattedMessage()).contains("cannot be used");
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
  void coordinatorThatAnswersAtTheAddressOfAnotherIsNotTakenForIt() {
    // Given
    try (Node there = Node.start("there");
        Node heir = Node.start("heir")) {
      here.coordinator.servedBy(new LeaseLocation.At(new Peer("gone", there.peer().address())));
      // When
      Received<?, ?> client = RELEASE.on(here.channel);
      RELEASE.refuse(here, Reason.UNKNOWN_LEASE);
      // Then
      assertThat(here.coordinator.suspects.next()).isEqualTo("gone");
      assertThat(here.services.peers().knows("gone")).isFalse();
      here.knows(heir);
      RELEASE.answer(heir);
      assertThat(client.end().isOk()).isTrue();
    }
  }

  @Test
  void coordinatorWhosePeerAdvertisesItsOwnAddressDoesNotTakeItselfForThePeer() {
    // Given
    here.coordinator.servedBy(new LeaseLocation.At(new Peer("twin", here.peer().address())));
    // When
    Received<?, ?> client = RELEASE.on(here.channel);
    RELEASE.refuse(here, Reason.UNKNOWN_LEASE);
    // Then
    assertThat(here.coordinator.suspects.next()).isEqualTo("twin");
    client.cancel();
  }

  @Test
  void addressThatLeadsToAnotherCoordinatorForLongIsAnErrorInTheLogOnceInHalfAMinute() {
    // Given
    PeerLink link = link("gone");
    long second = TimeUnit.SECONDS.toNanos(1);
    // When
    for (long now = second; now < 90 * second; now += second) {
      link.answeredByOther("other", now);
    }
    // Then
    assertThat(lines.list).hasSize(2);
    ILoggingEvent line = lines.list.get(0);
    assertThat(line.getLevel()).isEqualTo(Level.ERROR);
    assertThat(line.getKeyValuePairs())
        .extracting(pair -> pair.value)
        .containsExactly("gone", link.peer().address(), "other");
    assertThat(line.getFormattedMessage()).contains("--advertise");
  }

  @Test
  void peerThatIsSuspectedAgainAndAgainIsOneWarning() {
    // Given
    PeerLink link = link("shaky");
    // When
    for (int i = 0; i < 100; i++) {
      link.suspect("the test says so");
      link.heard();
    }
    // Then
    assertThat(here.stats().suspicions.sum()).isEqualTo(100);
    assertThat(lines.list).filteredOn(line -> line.getLevel() == Level.WARN).hasSize(1);
  }

  @Test
  void addressThatCannotBeUsedIsOneWarningHoweverManyRequestsAreForThePeer() {
    // Given
    Peer peer = new Peer("bad", "my_host:7420");
    here.coordinator.meets(peer);
    await().until(() -> !lines.list.isEmpty());
    // When
    for (int i = 0; i < 100; i++) {
      assertThat(here.services.peers().link(peer)).isEmpty();
    }
    // Then
    assertThat(lines.list)
        .singleElement()
        .satisfies(line -> assertThat(line.getLevel()).isEqualTo(Level.WARN));
  }

  private PeerLink link(String id) {
    return here.services.peers().link(new Peer(id, "127.0.0.1:" + Ports.free())).orElseThrow();
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
