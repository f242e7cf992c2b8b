package io.lockkeeper.cli.server;

import io.lockkeeper.server.app.ServerConfig;
import io.lockkeeper.server.zookeeper.client.ClientAccess;
import io.lockkeeper.server.zookeeper.record.ZooKeeperAccess;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;

/** A client of an ensemble for a few requests. Every wait has a bound. */
final class EnsembleClient implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final String REQUEST_MILLIS = "5000";

  private final ZooKeeper handle;

  private EnsembleClient(ZooKeeper handle) {
    this.handle = handle;
  }

  /**
   * Connects.
   *
   * @param access how to prove who we are
   * @throws IOException if there is no session within ten seconds; the message says why
   */
  static EnsembleClient connect(ServerConfig.ZooKeeper settings, ZooKeeperAccess access)
      throws IOException, InterruptedException {
    ClientAccess authentication = new ClientAccess(access);
    ZKClientConfig config = authentication.config();
    config.setProperty(ZKClientConfig.ZOOKEEPER_REQUEST_TIMEOUT, REQUEST_MILLIS);
    Optional<byte[]> digest = authentication.readDigest();
    CompletableFuture<Optional<String>> state = new CompletableFuture<>();
    EnsembleClient client =
        new EnsembleClient(
            new ZooKeeper(
                settings.connect(),
                (int) settings.lockSessionTimeout().toMillis(),
                event -> onEvent(event, state),
                config));
    ClientAccess.authenticate(client.handle, digest);
    Optional<String> problem = await(state);
    if (problem.isPresent()) {
      client.close();
      throw new IOException(problem.get());
    }
    return client;
  }

  private static Optional<String> await(CompletableFuture<Optional<String>> state)
      throws InterruptedException {
    try {
      return state.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      return Optional.of("no session within " + PATIENCE.toSeconds() + " s");
    } catch (ExecutionException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    }
  }

  private static void onEvent(WatchedEvent event, CompletableFuture<Optional<String>> state) {
    // Where authentication cannot even begin, the client says so without a state.
    switch (Objects.requireNonNullElse(event.getState(), KeeperState.AuthFailed)) {
      case SyncConnected -> state.complete(Optional.empty());
      case AuthFailed -> state.complete(Optional.of("ZooKeeper refuses our credentials"));
      case Expired -> state.complete(Optional.of("the session has expired"));
      default -> {} // On the way.
    }
  }

  /** Returns the handle. */
  ZooKeeper handle() {
    return handle;
  }

  /** Ends the session. */
  @Override
  public void close() {
    try {
      handle.close((int) PATIENCE.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
