package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.lockkeeper.client.internal.transport.Discovery;
import io.lockkeeper.client.internal.transport.Endpoint;
import io.lockkeeper.client.internal.transport.Target;
import io.lockkeeper.client.internal.transport.Transport;
import io.lockkeeper.testing.ManualClock;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A name that stands for several servers. */
class NamesTest {

  private static final String LOCK = "orders/42";

  private final ManualClock clock = new ManualClock();
  private final ScriptedServer server = new ScriptedServer(clock);
  private final List<String> tried = new CopyOnWriteArrayList<>();
  private final Zone zone = new Zone();
  private Optional<LockkeeperClient> client = Optional.empty();

  /** Knows addresses, until it is told to know others or none. */
  private static final class Zone implements Target.Resolver {
    private volatile List<String> addresses = List.of();
    private volatile boolean fails;

    @Override
    public List<InetAddress> lookUp(String host) throws UnknownHostException {
      if (fails) {
        throw new UnknownHostException(host);
      }
      List<InetAddress> found = new ArrayList<>();
      for (String address : addresses) {
        found.add(InetAddress.getByName(address)); // A literal: nobody is asked.
      }
      return found;
    }

    @Override
    public boolean mayWait() {
      return false;
    }
  }

  @AfterEach
  void stop() {
    server.script(ScriptedServer::keepAlive);
    clock.advance(Duration.ofSeconds(5));
    client.ifPresent(LockkeeperClient::close);
    server.close();
  }

  private LockkeeperClient build(String servers, Target.Resolver names) {
    LockkeeperClient built =
        LockkeeperClient.builder(servers)
            .channels(this::connect)
            .resolver(names)
            .clock(clock)
            .callbackExecutor(Runnable::run)
            .build();
    client = Optional.of(built);
    return built;
  }

  private ManagedChannel connect(String address) {
    tried.add(address);
    return server.connect();
  }

  private LockHandle hold(LockkeeperClient who) {
    LockHandle held = server.hold(who, LOCK);
    clock.advance(Duration.ofSeconds(3));
    return held;
  }

  @Test
  void allAddressesOfANameAreTriedInTurn() {
    // Given
    zone.addresses = List.of("10.0.0.1", "10.0.0.2", "10.0.0.3");
    LockHandle held = hold(build("lockkeeper.example:7420", zone));
    server.script((request, stream) -> stream.onError(Status.UNAVAILABLE.asRuntimeException()));
    // When
    server.end(Status.UNAVAILABLE);
    clock.advance(Duration.ofSeconds(1));
    // Then
    assertThat(held.isValid()).isTrue();
    assertThat(tried.subList(0, 3))
        .containsExactlyInAnyOrder("10.0.0.1:7420", "10.0.0.2:7420", "10.0.0.3:7420");
    assertThat(tried.get(3)).isEqualTo(tried.get(0));
  }

  @Test
  void nameIsLookedUpAnewWhenAServerFails() {
    // Given
    zone.addresses = List.of("10.0.0.1", "10.0.0.2");
    LockHandle held = hold(build("dns:///lockkeeper.example:7420", zone));
    // When
    zone.addresses = List.of("10.0.0.3", "10.0.0.4");
    server.end(Status.UNAVAILABLE);
    // Then
    assertThat(held.isValid()).isTrue();
    assertThat(tried).hasSize(2);
    assertThat(tried.get(1)).isIn("10.0.0.3:7420", "10.0.0.4:7420");
  }

  @Test
  void addressesAreKeptWhileTheNameCannotBeLookedUp() {
    // Given
    zone.addresses = List.of("10.0.0.1", "10.0.0.2");
    LockHandle held = hold(build("lockkeeper.example", zone));
    // When
    zone.fails = true;
    server.end(Status.UNAVAILABLE);
    // Then
    assertThat(held.isValid()).isTrue();
    assertThat(tried).containsExactlyInAnyOrder("10.0.0.1:7420", "10.0.0.2:7420");
  }

  @Test
  void lookupThatHangsHoldsNothingUp() {
    // Given
    CountDownLatch never = new CountDownLatch(1);
    Target.Resolver hanging =
        host -> {
          awaitQuietly(never);
          return List.of();
        };
    LockkeeperClient waiting = build("lockkeeper.example", hanging);
    CompletableFuture<LockHandle> asked = waiting.acquire(LockRequest.of(LOCK));
    // When
    clock.advance(Duration.ofMillis(1_001));
    // Then
    assertThat(asked).isNotDone();
    assertThat(tried).containsExactly("lockkeeper.example:7420");
    never.countDown();
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // The client was closed.
    }
  }

  @Test
  void clientsOfOneNameDoNotAllGoToTheSameServer() {
    // Given
    zone.addresses = List.of("10.0.0.1", "10.0.0.2", "10.0.0.3");
    List<Target> targets = Target.parseList("lockkeeper.example");
    // When
    long[] firsts =
        LongStream.range(0, 300)
            .filter(
                seed -> {
                  try (Discovery discovery = new Discovery(targets, Optional.of(zone), seed)) {
                    return discovery.resolve().join().get(0).address().equals("10.0.0.1:7420");
                  }
                })
            .toArray();
    // Then
    assertThat(firsts.length).isBetween(50, 150);
  }

  @ParameterizedTest
  @ValueSource(strings = {"10.0.0.1", "10.0.0.1,2001:db8::1", "2001:db8::1"})
  void nameOfOneServerIsLeftAsItIs(String addresses) throws UnknownHostException {
    // Given
    zone.addresses = Arrays.asList(addresses.split(","));
    // When
    List<Endpoint> endpoints = Target.parseList("lockkeeper.example").get(0).lookUp(zone);
    // Then
    assertThat(endpoints)
        .containsExactly(new Endpoint("lockkeeper.example:7420", "lockkeeper.example:7420"));
  }

  @Test
  void certificateIsThatOfTheNameWhateverTheAddress() throws UnknownHostException {
    // Given
    zone.addresses = List.of("10.0.0.1", "2001:db8::1", "2001:db8::2");
    List<Endpoint> endpoints = Target.parseList("lockkeeper.example:1").get(0).lookUp(zone);
    // When
    List<ManagedChannel> channels = endpoints.stream().map(Transport.plaintext()::connect).toList();
    // Then
    assertThat(endpoints)
        .extracting(Endpoint::address)
        .containsExactly("10.0.0.1:1", "[2001:db8:0:0:0:0:0:1]:1", "[2001:db8:0:0:0:0:0:2]:1");
    assertThat(channels).extracting(ManagedChannel::authority).containsOnly("lockkeeper.example:1");
    channels.forEach(ManagedChannel::shutdownNow);
  }
}
