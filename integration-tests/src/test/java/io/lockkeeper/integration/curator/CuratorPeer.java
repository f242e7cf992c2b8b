package io.lockkeeper.integration.curator;

import io.lockkeeper.integration.harness.Unprotected;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.retry.RetryNTimes;

/**
 * A service that uses Curator and nothing else, and does what it is told: a line of its standard
 * input is {@code <number> <thread> <command> <arguments>}, the answer {@code <number> ok <text>}
 * or {@code <number> failed <text>}. Each thread does one command after the other; Curator's locks
 * belong to threads. Ends with the process that started it.
 */
final class CuratorPeer {

  private static final long PAUSE_NANOS = 2_000_000;

  private final CuratorFramework client;
  private final PrintStream answers;
  private final Map<String, ExecutorService> threads = new ConcurrentHashMap<>();
  private final Map<String, InterProcessReadWriteLock> pairs = new ConcurrentHashMap<>();
  private final Map<String, InterProcessLock> locks = new ConcurrentHashMap<>();

  private CuratorPeer(CuratorFramework client, PrintStream answers) {
    this.client = client;
    this.answers = answers;
  }

  /** Arguments: where ZooKeeper is, the session timeout in milliseconds, what the nodes say. */
  public static void main(String[] arguments) throws Exception {
    PrintStream answers = System.out;
    System.setOut(System.err); // loggers write there; the answers have the pipe for themselves
    CuratorFramework client =
        CuratorFrameworkFactory.builder()
            .connectString(arguments[0])
            .sessionTimeoutMs(Integer.parseInt(arguments[1]))
            .connectionTimeoutMs(5_000)
            .retryPolicy(new RetryNTimes(3, 100))
            .defaultData(arguments[2].getBytes(StandardCharsets.UTF_8))
            .build();
    client.start();
    client.blockUntilConnected();
    answers.println("ready");
    new CuratorPeer(client, answers).obey();
    Runtime.getRuntime().halt(0);
  }

  private void obey() throws IOException {
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] words = line.split(" ", -1);
      threads
          .computeIfAbsent(words[1], name -> Executors.newSingleThreadExecutor())
          .execute(() -> answer(words));
    }
  }

  private void answer(String[] words) {
    String answer;
    try {
      answer = "ok " + carryOut(words);
    } catch (Exception e) {
      answer = "failed " + e.toString().replace('\n', ' ');
    }
    answers.println(words[0] + " " + answer);
  }

  private String carryOut(String[] words) throws Exception {
    return switch (words[2]) {
      case "acquire" -> acquire(lock(words), Long.parseLong(words[5]));
      case "release" -> release(lock(words));
      case "participants" -> participants(lock(words));
      case "revocable" -> makeRevocable(lock(words), words[4]);
      case "work" -> work(lock(words), words[3], Integer.parseInt(words[5]), words[6]);
      case "revoke" -> revoke(words[3]);
      case "data" -> new String(client.getData().forPath(words[3]), StandardCharsets.UTF_8);
      case "session" -> Long.toHexString(client.getZookeeperClient().getZooKeeper().getSessionId());
      default -> throw new IllegalArgumentException(words[2]);
    };
  }

  /**
   * Returns the lock of this recipe and path; the two sides of a read/write lock know each other.
   */
  private InterProcessLock lock(String[] words) {
    String path = words[4];
    return switch (Recipe.valueOf(words[3])) {
      case READ -> pair(path).readLock();
      case WRITE -> pair(path).writeLock();
      case MUTEX -> locks.computeIfAbsent(path, p -> Recipe.MUTEX.make(client, p));
      case MULTI -> locks.computeIfAbsent(path, p -> Recipe.MULTI.make(client, p));
    };
  }

  private InterProcessReadWriteLock pair(String path) {
    return pairs.computeIfAbsent(path, p -> new InterProcessReadWriteLock(client, p));
  }

  private static String acquire(InterProcessLock lock, long millis) throws Exception {
    if (millis < 0) {
      lock.acquire();
      return "true";
    }
    return Boolean.toString(lock.acquire(millis, TimeUnit.MILLISECONDS));
  }

  private static String release(InterProcessLock lock) throws Exception {
    lock.release();
    return "";
  }

  private static String participants(InterProcessLock lock) throws Exception {
    Collection<String> nodes = ((InterProcessMutex) lock).getParticipantNodes();
    return String.join(" ", nodes);
  }

  private String makeRevocable(InterProcessLock lock, String path) {
    ((InterProcessMutex) lock).makeRevocable(asked -> answers.println("revocation " + path));
    return "";
  }

  private String revoke(String node) throws Exception {
    Revoker.attemptRevoke(client, node);
    return "";
  }

  /** Counts under the lock, again and again; a reader only looks, and it must not change. */
  private String work(InterProcessLock lock, String recipe, int rounds, String directory)
      throws Exception {
    Unprotected shared = Unprotected.existingIn(Path.of(directory));
    for (int i = 0; i < rounds; i++) {
      lock.acquire();
      try {
        if (recipe.equals(Recipe.READ.name())) {
          shared.look();
        } else {
          shared.work(0, "curator");
        }
      } finally {
        lock.release();
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    return "";
  }
}
