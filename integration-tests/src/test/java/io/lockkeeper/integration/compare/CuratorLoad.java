package io.lockkeeper.integration.compare;

import io.lockkeeper.integration.harness.Znodes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;

/** Curator's side: each client is a mutex and, as its interface wants it, a thread. */
final class CuratorLoad extends Load {

  private static final int CONNECTIONS = 4;

  private final List<CuratorFramework> connections = new ArrayList<>();

  private CuratorLoad(String zookeeper) {
    for (int i = 0; i < CONNECTIONS; i++) {
      CuratorFramework connection =
          CuratorFrameworkFactory.newClient(zookeeper, new RetryOneTime(100));
      connection.start();
      connections.add(connection);
    }
  }

  /** Arguments: ZooKeeper's address. */
  public static void main(String[] arguments) throws Exception {
    new CuratorLoad(arguments[0]).obey();
    System.exit(0);
  }

  @Override
  AutoCloseable start(int clients, boolean oneLock) {
    AtomicBoolean stopping = new AtomicBoolean();
    ExecutorService threads = Executors.newFixedThreadPool(clients);
    for (int i = 0; i < clients; i++) {
      String directory = Znodes.directory("curator-" + lock(i, oneLock));
      InterProcessMutex mutex = new InterProcessMutex(connections.get(i % CONNECTIONS), directory);
      threads.execute(() -> run(mutex, stopping));
    }
    return () -> {
      stopping.set(true);
      threads.shutdown();
      if (!threads.awaitTermination(30, TimeUnit.SECONDS)) {
        throw new IllegalStateException("a client does not end");
      }
    };
  }

  private void run(InterProcessMutex mutex, AtomicBoolean stopping) {
    try {
      while (!stopping.get()) {
        mutex.acquire();
        mutex.release();
        count();
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
