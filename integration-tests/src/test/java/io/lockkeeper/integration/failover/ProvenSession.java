package io.lockkeeper.integration.failover;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/**
 * A raw ZooKeeper session that owns one ephemeral node and remembers when its proofs, which are
 * transactions that only check, were sent and answered. Times are {@link System#nanoTime}.
 */
final class ProvenSession extends ZooKeeper {

  private final long connectingNanos;
  private final List<Proof> proofs = new CopyOnWriteArrayList<>();

  /** A proof that was answered. */
  record Proof(long sentNanos, long answeredNanos) {}

  private ProvenSession(
      String connect, Duration timeout, long connectingNanos, CompletableFuture<Void> connected)
      throws IOException {
    super(connect, (int) timeout.toMillis(), event -> onState(event.getState(), connected));
    this.connectingNanos = connectingNanos;
  }

  private ProvenSession(
      String connect, ZooKeeper same, long connectingNanos, CompletableFuture<Void> connected)
      throws IOException {
    super(
        connect,
        same.getSessionTimeout(),
        event -> onState(event.getState(), connected),
        same.getSessionId(),
        same.getSessionPasswd());
    this.connectingNanos = connectingNanos;
  }

  private static void onState(KeeperState state, CompletableFuture<Void> connected) {
    if (state == KeeperState.SyncConnected) {
      connected.complete(null);
    }
  }

  /** Opens a session, and returns when its node exists. */
  static ProvenSession open(String connect, Duration timeout) {
    CompletableFuture<Void> connected = new CompletableFuture<>();
    try {
      ProvenSession session = new ProvenSession(connect, timeout, System.nanoTime(), connected);
      connected.join();
      session.create(session.path(), new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
      return session;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (KeeperException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Connects once more, elsewhere, and returns when that is done. */
  ProvenSession reconnect(String connect) {
    drop();
    CompletableFuture<Void> connected = new CompletableFuture<>();
    try {
      ProvenSession session = new ProvenSession(connect, this, System.nanoTime(), connected);
      connected.join();
      return session;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the path of the node that ends with the session. */
  String path() {
    return "/session-" + Long.toHexString(getSessionId());
  }

  /** Sends a proof and waits for the answer. */
  void prove() {
    final long sentNanos = System.nanoTime();
    try {
      multi(List.of(Op.check("/", -1)));
      proofs.add(new Proof(sentNanos, System.nanoTime()));
    } catch (KeeperException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Returns the newest proof that was answered. */
  Proof newest() {
    return proofs.get(proofs.size() - 1);
  }

  /** Returns until when the session lives, going by what has been answered up to now. */
  long boundNanos(Duration lag, Duration margin) {
    long touchedNanos =
        proofs.stream()
            .filter(proof -> proof.answeredNanos() + lag.toNanos() <= newest().sentNanos())
            .mapToLong(Proof::sentNanos)
            .reduce(connectingNanos, (first, second) -> second);
    return touchedNanos + timeout().minus(margin).toNanos();
  }

  /** Returns the timeout that the server granted. */
  Duration timeout() {
    return Duration.ofMillis(getSessionTimeout());
  }

  /** Falls silent without ending the session. Blocks for up to a second. */
  void drop() {
    cnxn.disconnect();
  }
}
