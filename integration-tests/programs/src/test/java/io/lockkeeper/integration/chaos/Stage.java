package io.lockkeeper.integration.chaos;

import io.lockkeeper.integration.harness.ByteProxy;
import io.lockkeeper.integration.harness.Descriptors;
import io.lockkeeper.integration.harness.Network;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * What one fault has to work with: its victims, its time, its chance.
 *
 * @param coordinators the victims, if they are coordinators
 * @param zookeepers the victims, if they are servers of the ensemble
 * @param clients the victims, if they are processes of clients
 * @param network what lies between all nodes
 * @param millis how long the fault lasts
 * @param random decides its details
 * @param over falls when the run is over
 * @param history where to say what went wrong
 */
record Stage(
    List<CoordinatorNode> coordinators,
    List<ZooKeeperNode> zookeepers,
    List<ClientNode> clients,
    Network network,
    long millis,
    SplittableRandom random,
    CountDownLatch over,
    History history) {

  /** Waits until the fault has lasted long enough. */
  void last() throws InterruptedException {
    pause(millis);
  }

  /** Waits; says whether the run is over. */
  boolean pause(long pauseMillis) throws InterruptedException {
    return over.await(pauseMillis, TimeUnit.MILLISECONDS);
  }

  /** Nothing passes on these connections for a while; then all does, late, or they break. */
  void blackhole(List<ByteProxy> links) throws InterruptedException {
    boolean oneWay = random.nextInt(4) == 0;
    boolean cutAfterwards = random.nextBoolean();
    for (ByteProxy link : links) {
      if (oneWay) {
        link.blackhole(ByteProxy.Way.OUT);
      } else {
        link.blackhole();
      }
    }
    try {
      last();
    } finally {
      if (cutAfterwards) {
        links.forEach(ByteProxy::cut);
      }
      links.forEach(ByteProxy::heal);
    }
  }

  /** Connections crawl for a while. */
  void throttle(List<ByteProxy> links) throws InterruptedException {
    long bytesPerSecond = random.nextLong(2_000, 20_000);
    links.forEach(link -> link.throttle(bytesPerSecond));
    try {
      last();
    } finally {
      links.forEach(ByteProxy::heal);
    }
  }

  /**
   * Descriptors stay exhausted for a while; half the times connections break that need new ones.
   */
  void exhaust(List<ByteProxy> links, List<Descriptors> exhausted) throws InterruptedException {
    try {
      if (random.nextBoolean()) {
        links.forEach(ByteProxy::cut);
      }
      last();
    } finally {
      exhausted.forEach(Descriptors::close);
    }
  }

  /** Connections are reset again and again, with whatever is on its way. */
  void cutAgainAndAgain(List<ByteProxy> links) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    do {
      links.forEach(ByteProxy::cut);
    } while (!pause(random.nextLong(50, 2_500)) && System.nanoTime() - end < 0);
  }
}
