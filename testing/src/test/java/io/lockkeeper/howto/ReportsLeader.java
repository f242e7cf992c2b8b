package io.lockkeeper.howto;

import io.lockkeeper.client.Leader;
import io.lockkeeper.client.LeaderElection;
import io.lockkeeper.client.Leadership;
import io.lockkeeper.client.LeadershipListener;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.ReleaseRequest;
import io.lockkeeper.client.Watch;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Writes reports on one instance of many: the one that leads. */
final class ReportsLeader {

  /** Where reports go. */
  interface Archive {

    /**
     * Stores a report.
     *
     * @throws IllegalStateException if it has seen a token above {@code fencingToken}
     */
    void store(String report, long fencingToken);
  }

  private final LeaderElection election;
  private final String address;
  private final BlockingQueue<String> orders;
  private final Archive archive;
  private volatile boolean stopped;

  ReportsLeader(
      LockkeeperClient client, String address, BlockingQueue<String> orders, Archive archive) {
    this.election = client.asElection("reports/leader");
    this.address = address;
    this.orders = orders;
    this.archive = archive;
  }

  /** Leads whenever it is elected, until it is stopped or asked to resign. */
  void run() throws InterruptedException {
    LeadershipListener listener =
        new LeadershipListener() {
          @Override
          public void onAskedToResign(Leadership leadership, ReleaseRequest request) {
            stop();
          }
        };
    election.run(
        address,
        listener,
        leadership -> {
          while (!stopped && leadership.isValid()) {
            step(leadership.fencingToken());
          }
        });
  }

  private void step(long fencingToken) throws InterruptedException {
    String order = orders.poll(1, TimeUnit.SECONDS);
    if (order != null) {
      archive.store("report on " + order, fencingToken);
    }
  }

  /** Resigns when the step that is under way has ended. */
  void stop() {
    stopped = true;
  }

  /** Tells who leads, and whenever that changes, until the watch is closed. */
  Watch observe(Consumer<Optional<String>> router) {
    return election.observe(leader -> router.accept(leader.map(Leader::value)));
  }
}
