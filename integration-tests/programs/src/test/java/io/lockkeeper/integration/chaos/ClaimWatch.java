package io.lockkeeper.integration.chaos;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes down which lock session, with which leases, has passed from one coordinator to another.
 */
final class ClaimWatch {

  private static final Logger LOG = LoggerFactory.getLogger(ClaimWatch.class);
  private static final long POLL_MILLIS = 200;

  private final Root root;
  private final History history;
  private final Map<String, String> owners = new HashMap<>();
  private final CountDownLatch over = new CountDownLatch(1);
  private final Thread thread = new Thread(this::run, "claim-watch");

  ClaimWatch(Root root, History history) {
    this.root = root;
    this.history = history;
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    try {
      while (!over.await(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
        look();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void look() throws InterruptedException {
    try {
      for (Map.Entry<String, String> claim : root.claims().entrySet()) {
        String before = owners.put(claim.getKey(), claim.getValue());
        if (before != null && !before.equals(claim.getValue())) {
          record(claim.getKey(), before, claim.getValue());
        }
      }
    } catch (Root.Unreadable e) {
      LOG.atDebug().setCause(e).log("ZooKeeper cannot be read now");
    }
  }

  private void record(String session, String from, String to) throws InterruptedException {
    History.Line line =
        history.line("adopted").with("session", session).with("from", from).with("to", to);
    List<String> leases = List.of();
    try {
      leases = root.leasesOf(session);
    } catch (Root.Unreadable e) {
      LOG.atDebug().setCause(e).log("the leases of an adopted session cannot be read now");
    }
    line.with("leases", leases).write();
  }

  /** Looks no more. */
  void close() {
    over.countDown();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
