package io.lockkeeper.integration.fuzz;

import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Metadata;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.stub.MetadataUtils;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.Scratch;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.security.StaticTokens;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;

/**
 * A ZooKeeper and a server in processes of their own: two tenants that share nothing, and a caller
 * who is known but may do nothing.
 */
final class FuzzedServer implements AutoCloseable {

  /** The header that says who calls. */
  static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private static final String LOCKS = "/lockkeeper/locks";
  private static final int SESSION_TIMEOUT_MILLIS = 20_000;

  // The longest TTL bounds how long what an attacker has forgotten may stay.
  private static final String POLICY =
      """
      rules:
        - {name: attackers, identities: ["token:a"], locks: ["tenant-a/*"], rights: [all]}
        - {name: witness, identities: ["token:b"], locks: ["tenant-b/*"], rights: [all]}
      limits:
        - {identities: ["token:a"], acquisitions: 1500, leases: 1500, max-ttl: 15s}
      """;

  private final Rig rig;
  private final ZooKeeper zookeeper;
  private final String attacker;
  private final String witness;
  private final String stranger;

  private FuzzedServer(Rig rig, ZooKeeper zookeeper, List<String> tokens) {
    this.rig = rig;
    this.zookeeper = zookeeper;
    this.attacker = "Bearer " + tokens.get(0);
    this.witness = "Bearer " + tokens.get(1);
    this.stranger = "Bearer " + tokens.get(2);
  }

  /** Starts both. */
  static FuzzedServer start() {
    SecureRandom random = new SecureRandom();
    List<StaticTokens.Fresh> fresh =
        Stream.of("a", "b", "c").map(name -> StaticTokens.make(name, random)).toList();
    StringBuilder tokens = new StringBuilder("tokens:\n");
    fresh.forEach(each -> tokens.append("  ").append(each.line()).append('\n'));
    Path directory = Scratch.directory("fuzz");
    Path policyFile = directory.resolve("policy.yaml");
    Path tokensFile = directory.resolve("tokens.yaml");
    try {
      Files.writeString(policyFile, POLICY);
      Files.writeString(tokensFile, tokens);
      Rig rig =
          Rig.start(
              "--policy=" + policyFile,
              "--tokens=" + tokensFile,
              "--audit=" + directory.resolve("audit.log"));
      ZooKeeper zookeeper =
          new ZooKeeper(rig.zookeeper().connectString(), SESSION_TIMEOUT_MILLIS, event -> {});
      return new FuzzedServer(
          rig, zookeeper, fresh.stream().map(StaticTokens.Fresh::token).toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the header of the attackers. */
  String attacker() {
    return attacker;
  }

  /** Returns the header of somebody who is known and may do nothing. */
  String stranger() {
    return stranger;
  }

  /** Returns a new connection without a token. */
  Channel connect() {
    return rig.connect();
  }

  /** Returns a new connection of the tenant who is not to be disturbed. */
  Channel connectWitness() {
    Metadata headers = new Metadata();
    headers.put(AUTHORIZATION, witness);
    return ClientInterceptors.intercept(
        rig.connect(), MetadataUtils.newAttachHeadersInterceptor(headers));
  }

  /** Returns whether the server serves. */
  boolean serves() {
    return rig.server().isAlive() && rig.server().health() == ServingStatus.SERVING;
  }

  /** Returns what the server has logged. */
  String log() {
    return rig.server().output();
  }

  /** Returns how much of the heap is in use after everything unreachable is gone. */
  long usedHeapBytes() {
    ServerProcess server = rig.server();
    try {
      Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
      Process process =
          new ProcessBuilder(jcmd.toString(), Long.toString(server.pid()), "GC.run")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      if (process.waitFor() != 0) {
        throw new IllegalStateException("jcmd failed");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
    return (long) server.metric("jvm_memory_used_bytes{area=\"heap\"");
  }

  /** Returns how many threads the server has. */
  int threads() {
    try (Stream<Path> tasks =
        Files.list(Path.of("/proc", Long.toString(rig.server().pid()), "task"))) {
      return (int) tasks.count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the entries in ZooKeeper that are in queues of locks with other names than these. */
  List<String> entriesBeside(String encodedPrefix) {
    List<String> entries = new ArrayList<>();
    try {
      for (String lock : zookeeper.getChildren(LOCKS, false)) {
        if (!lock.startsWith(encodedPrefix)) {
          entriesOf(lock).forEach(entry -> entries.add(lock + "/" + entry));
        }
      }
      return entries;
    } catch (KeeperException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private List<String> entriesOf(String lock) throws KeeperException, InterruptedException {
    try {
      return zookeeper.getChildren(LOCKS + "/" + lock, false).stream()
          .filter(child -> EntryName.parse(child).isPresent())
          .toList();
    } catch (KeeperException.NoNodeException e) {
      return List.of();
    }
  }

  @Override
  public void close() {
    try {
      zookeeper.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    rig.close();
  }
}
