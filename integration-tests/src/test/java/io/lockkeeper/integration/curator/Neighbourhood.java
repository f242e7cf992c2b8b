package io.lockkeeper.integration.curator;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.integration.harness.Znodes;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.LockServiceGrpc.LockServiceBlockingStub;
import io.lockkeeper.v1.LockState;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/**
 * A ZooKeeper with a service's lock directories, a server that was told where they are, and peers
 * that use Curator on them. One for all tests that leave it as they found it; it ends with the JVM.
 */
final class Neighbourhood {

  /** Where the service has always had its locks: a lock {@code x} is the directory {@code x}. */
  static final String LOCKS = "/service/locks";

  /** The session timeout of servers that are killed. */
  private static final int DOOMED_SECONDS = 5;

  private static Neighbourhood shared;

  private final ZooKeeperProcess zookeeper = Rig.startZooKeeper();
  private final ServerProcess server =
      ServerProcess.start(zookeeper.connectString(), "--locks-path=" + LOCKS);
  private final ManagedChannel channel = server.connect();
  private final Znodes znodes = Znodes.at(zookeeper.connectString(), LOCKS);
  private final Map<String, CuratorProcess> peers = new HashMap<>();

  static synchronized Neighbourhood shared() {
    if (shared == null) {
      shared = new Neighbourhood();
    }
    return shared;
  }

  /** Starts one more server on the same directories, which the caller kills. */
  ServerProcess startDoomedServer() {
    return ServerProcess.start(
        zookeeper.connectString(), Rig.shortSessions(DOOMED_SECONDS, "--locks-path=" + LOCKS));
  }

  /** Returns a peer that lives as long as the tests. */
  synchronized CuratorProcess peer(String name) {
    return peers.computeIfAbsent(
        name, any -> CuratorProcess.start(zookeeper.connectString(), name, 30));
  }

  /** Starts a peer that the caller kills. */
  CuratorProcess startDoomedPeer() {
    return CuratorProcess.start(zookeeper.connectString(), "doomed", DOOMED_SECONDS);
  }

  /** Returns what a Curator client connects to. */
  String zookeeper() {
    return zookeeper.connectString();
  }

  /** Returns the address of the server. */
  String address() {
    return server.address();
  }

  /** Returns a connection to the server. */
  ManagedChannel channel() {
    return channel;
  }

  /** Returns the server's calls. */
  LockServiceBlockingStub stub() {
    return LockServiceGrpc.newBlockingStub(channel).withDeadlineAfter(30, TimeUnit.SECONDS);
  }

  /** Returns a look at ZooKeeper itself. */
  Znodes znodes() {
    return znodes;
  }

  /** Returns what the server shows of a lock. */
  LockState lock(String name) {
    return stub().getLock(GetLockRequest.newBuilder().setName(name).build()).getLock();
  }

  /** Waits until a lock's directory holds so many entries. */
  void awaitEntries(String lock, int count) {
    Awaitility.await(count + " entries of " + lock)
        .untilAsserted(() -> assertThat(znodes.entries(lock)).hasSize(count));
  }

  /** Asks the server for a lock that lives as long as the call. */
  Asking ask(String lock, LockMode mode) {
    return Asking.with(channel, request(lock, mode).build());
  }

  /** Returns a request for one lock, to be completed. */
  static AcquireRequest.Builder request(String lock, LockMode mode) {
    return AcquireRequest.newBuilder()
        .addLocks(LockRequest.newBuilder().setName(lock).setMode(mode));
  }

  /** Returns the directory of a lock, as Curator's users name it. */
  static String path(String lock) {
    return LOCKS + "/" + lock;
  }
}
