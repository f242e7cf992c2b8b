package io.lockkeeper.server.zookeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.coordinator.RecordedEvents;
import io.lockkeeper.server.core.api.SessionEvent.SessionEnded;
import io.lockkeeper.server.core.api.SessionEvent.SessionProved;
import io.lockkeeper.server.core.api.SessionEvent.SessionSuspended;
import io.lockkeeper.server.core.api.StoreEffect;
import io.lockkeeper.server.core.api.StoreEvent.MirrorCurrent;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.testing.Request;
import io.lockkeeper.server.testing.ZooKeeperProxy;
import io.lockkeeper.server.zookeeper.Asked;
import io.lockkeeper.server.zookeeper.Ensemble;
import io.lockkeeper.server.zookeeper.ZooKeeperLockStore;
import io.lockkeeper.server.zookeeper.record.ZooKeeperSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** A connection is there again whatever stood in its way. */
final class ConnectionIT {

  /** ZooKeeper's own client leaves a silent server after two thirds of it: long after we do. */
  private static final Duration LONG_SESSION = Duration.ofSeconds(30);

  private final RecordedEvents events = new RecordedEvents();
  @AutoClose private final Ensemble ensemble = Ensemble.shared();

  private ZooKeeperSettings settings(String connect) {
    return settings(connect, LONG_SESSION);
  }

  private ZooKeeperSettings settings(String connect, Duration timeout) {
    return ensemble.settings(connect, "c1").withTimes(timeout, timeout, Duration.ofMillis(200), 5);
  }

  @Test
  void serverThatKeepsSilentIsLeftAndTheSessionGoesOnAtAnother() throws Exception {
    // Given: two ways to the server; all connections take the same one at a time
    ZooKeeperProxy one = ensemble.proxy();
    ZooKeeperProxy other = ensemble.proxy();
    ZooKeeperLockStore store =
        ensemble.store(settings(one.connectString() + "," + other.connectString()), events);
    SessionKey session = Asked.open(store, events, 1);
    store.proveSession(new StoreEffect.ProveSession(session));
    events.await(SessionProved.class);
    // When: as a machine does that has vanished
    one.blackhole();
    other.blackhole();
    // Then: a proof that nobody answers, and the mirror's own touch, have both left
    Awaitility.await()
        .until(
            () -> {
              store.proveSession(new StoreEffect.ProveSession(session));
              return store.stats().get("servers_left") >= 1;
            });
    one.heal();
    other.heal();
    // Then
    events.await(SessionSuspended.class);
    events.await(MirrorCurrent.class);
    store.proveSession(new StoreEffect.ProveSession(session));
    events.await(SessionProved.class);
    assertThat(events.all(SessionEnded.class)).isEmpty();
  }

  private static boolean isOfALockSession(Request request) {
    return request.opcode() == OpCode.multi && request.contains("/lk/sessions/");
  }

  @Test
  void serverAfterOneThatWasLeftHasTwiceAsLongToAnswer() throws Exception {
    // Given: two ways to the server, each of which holds the session's first write
    ZooKeeperProxy one = ensemble.proxy();
    ZooKeeperProxy other = ensemble.proxy();
    ZooKeeperSettings settings =
        settings(one.connectString() + "," + other.connectString(), Duration.ofSeconds(15));
    ZooKeeperLockStore store = ensemble.store(settings, events);
    SessionKey session = Asked.open(store, events, 1);
    store.proveSession(new StoreEffect.ProveSession(session));
    events.await(SessionProved.class);
    one.at(1, ConnectionIT::isOfALockSession, ZooKeeperProxy.Action.HOLD);
    other.at(1, ConnectionIT::isOfALockSession, ZooKeeperProxy.Action.HOLD);
    // When
    long startNanos = System.nanoTime();
    Awaitility.await("both are left")
        .until(
            () -> {
              store.proveSession(new StoreEffect.ProveSession(session));
              return store.stats().get("servers_left") >= 2;
            });
    Duration both = Duration.ofNanos(System.nanoTime() - startNanos);
    // Then
    assertThat(both).isGreaterThan(settings.times().longestSilence().multipliedBy(3));
    assertThat(events.all(SessionEnded.class)).isEmpty();
  }

  @Test
  void handleIsOpenedHoweverOftenThatFails() throws Exception {
    // Given
    Queue<Throwable> failures =
        new ArrayDeque<>(
            List.of(
                new IOException("too many open files"),
                new UncheckedIOException(new IOException("again")),
                new OutOfMemoryError("unable to create native thread")));
    StoreContext context = Asked.context(settings(ensemble.server().connectString()), events);
    BlockingQueue<String> told = new LinkedBlockingQueue<>();
    Connection connection =
        new Connection(
            context,
            Connection.Use.WRITING,
            LONG_SESSION,
            new ToldListener(told),
            (of, timeout, use, listener) -> {
              Throwable next = failures.poll();
              if (next != null) {
                throwAsItIs(next);
              }
              return context.connector().open(of, timeout, use, listener);
            });
    // When
    context.executor().execute(connection::open);
    // Then
    assertThat(told.poll(60, TimeUnit.SECONDS)).isEqualTo("connected");
    assertThat(failures).isEmpty();
    close(connection, context);
  }

  @Test
  void connectionThatTheClientDoesNotTellOfIsFound() throws Exception {
    // Given: a client that tells of its first connection only
    ZooKeeperProxy way = ensemble.proxy();
    StoreContext context = Asked.context(settings(way.connectString()), events);
    BlockingQueue<String> told = new LinkedBlockingQueue<>();
    AtomicInteger connections = new AtomicInteger();
    Connection connection =
        new Connection(
            context,
            Connection.Use.LISTENING,
            LONG_SESSION,
            new ToldListener(told),
            (of, timeout, use, listener) ->
                context.connector().open(of, timeout, use, tellingOnce(listener, connections)));
    context.executor().execute(connection::open);
    assertThat(told.poll(60, TimeUnit.SECONDS)).isEqualTo("connected");
    // When
    way.cutAll();
    // Then
    assertThat(told.poll(60, TimeUnit.SECONDS)).isEqualTo("disconnected");
    assertThat(told.poll(60, TimeUnit.SECONDS)).isEqualTo("connected");
    Awaitility.await("what the client tells").until(() -> connections.get() == 2);
    close(connection, context);
  }

  /** Passes on what a handle tells, but of its connections only the first; counts them. */
  private static HandleListener tellingOnce(HandleListener listener, AtomicInteger connections) {
    return new HandleListener() {
      @Override
      public void onConnected() {
        if (connections.incrementAndGet() == 1) {
          listener.onConnected();
        }
      }

      @Override
      public void onDisconnected() {
        listener.onDisconnected();
      }

      @Override
      public void onExpired() {
        listener.onExpired();
      }
    };
  }

  private static void close(Connection connection, StoreContext context) throws Exception {
    CompletableFuture<Void> closed = new CompletableFuture<>();
    context.executor().execute(() -> connection.close(() -> closed.complete(null)));
    closed.get(60, TimeUnit.SECONDS);
    context.connector().stop(1_000);
    context.executor().stop(1_000);
  }

  private static void throwAsItIs(Throwable failure) throws IOException {
    if (failure instanceof IOException checked) {
      throw checked;
    } else if (failure instanceof Error error) {
      throw error;
    }
    throw (RuntimeException) failure;
  }
}
