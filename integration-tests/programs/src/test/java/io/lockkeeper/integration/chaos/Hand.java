package io.lockkeeper.integration.chaos;

import io.lockkeeper.client.Contender;
import io.lockkeeper.client.LeaseLostException;
import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockListener;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.LockkeeperException;
import io.lockkeeper.client.LossReason;
import io.lockkeeper.client.NotAcquiredException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * One client with one lease: asks for a lock, works under it, releases it, until it is told to
 * stop.
 */
final class Hand implements Runnable {

  private final String name;
  private final int index;
  private final LockkeeperClient client;
  private final RegisterClient registers;
  private final History history;
  private final SplittableRandom random;
  private final CountDownLatch stop;
  private final Promises promises;
  private long count;

  Hand(Setting setting, int index, SplittableRandom random) {
    this.name = setting.process() + "/" + index;
    this.index = index;
    this.client =
        LockkeeperClient.builder(from(setting.servers(), index)).plaintext().holder(name).build();
    this.registers = new RegisterClient(setting.registerPort(), setting.history());
    this.history = setting.history();
    this.random = random;
    this.stop = setting.stop();
    this.promises = setting.promises();
  }

  /** What the clients of a process share. */
  record Setting(
      String process,
      String servers,
      int registerPort,
      History history,
      Promises promises,
      CountDownLatch stop) {}

  /** Returns the addresses in another order for each client, so that they begin everywhere. */
  private static String from(String servers, int index) {
    List<String> order = new ArrayList<>(List.of(servers.split(",", -1)));
    Collections.rotate(order, index);
    return String.join(",", order);
  }

  @Override
  public void run() {
    try {
      while (!rest(1)) {
        Work work = Work.draw(index, random);
        once(work);
        rest(work.restMillis());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      client.close();
      registers.close();
    }
  }

  /** Waits; says whether it is time to stop. */
  private boolean rest(long millis) throws InterruptedException {
    return stop.await(millis, TimeUnit.MILLISECONDS);
  }

  private void once(Work work) throws InterruptedException {
    String id = name + "/" + ++count;
    boolean kept = random.nextBoolean();
    LockRequest request = LockRequest.of(List.of(work.lock())).listener(new Ear(id));
    if (work.waitLimit().isPresent()) {
      request = request.waitAtMost(work.waitLimit().get());
    }
    if (kept) {
      request = request.keepUnused(Duration.ofMillis(random.nextLong(100, 5_000)));
    }
    history
        .line("ask")
        .with("a", id)
        .with("lock", work.lock().name())
        .with("mode", work.mode())
        .with("kept", kept)
        .write();
    try {
      LockHandle handle = client.lock(request);
      use(id, work, handle);
    } catch (LockkeeperException e) {
      history.line("refused").with("a", id).with("reason", reason(e)).write();
    }
  }

  private static String reason(LockkeeperException e) {
    if (e instanceof NotAcquiredException notAcquired) {
      return notAcquired.reason().toString();
    }
    return e instanceof LeaseLostException lost ? "LEASE_LOST " + lost.reason() : e.toString();
  }

  private void use(String id, Work work, LockHandle handle) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(work.holdMillis());
    while (handle.isValid() && System.nanoTime() - end < 0) {
      // Not checked again before the write: that is what the token is for.
      if (!work.mode().equals("read")
          && !registers.increment(id, handle.name(), handle.fencingToken())) {
        break;
      }
      if (rest(work.stepMillis())) {
        break;
      }
    }
    promises.forget(id);
    history.line("release").with("a", id).with("until", handle.validUntilNanos()).write();
    String result = handle.releaseForResult().join().outcome().toString();
    history.line("released").with("a", id).with("reason", result).write();
  }

  /** Writes down what happens to one request. */
  private final class Ear implements LockListener {
    private final String id;

    Ear(String id) {
      this.id = id;
    }

    @Override
    public void onQueued(int ahead, List<Contender> holders) {
      history
          .line("queued")
          .with("a", id)
          .with("lease", client.leaseTag())
          .with("ahead", ahead)
          .write();
    }

    @Override
    public void onGranted(LockHandle handle) {
      long until = handle.validUntilNanos();
      promises.add(id, handle);
      history
          .line("granted")
          .with("a", id)
          .with("lease", client.leaseTag())
          .with("token", handle.fencingToken())
          .with("until", until)
          .write();
    }

    @Override
    public void onLost(LockHandle handle, LossReason reason) {
      promises.forget(id);
      history
          .line("lost")
          .with("a", id)
          .with("until", handle.validUntilNanos())
          .with("reason", reason.toString())
          .write();
    }
  }
}
