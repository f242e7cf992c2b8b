package io.lockkeeper.integration.chaos;

import io.lockkeeper.integration.harness.Network;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Brings fault after fault upon the cluster. The seed decides kinds, order, lengths and rests:
 * every kind comes once before any comes again. Some faults overlap with the next.
 */
final class Nemesis {

  private static final long WARM_UP_MILLIS = 6_000;
  private static final long WELL_SECONDS = 40;
  private static final long VICTIM_SECONDS = 60;
  private static final long UNDO_SECONDS = 90;
  private static final long POLL_MILLIS = 250;

  private final List<Fault> kinds;
  private final Victims victims;
  private final Network network;
  private final History history;
  private final SplittableRandom random;
  private final long longestMillis;
  private final CountDownLatch over = new CountDownLatch(1);
  private final ExecutorService executor = Executors.newCachedThreadPool();
  private final List<Future<?>> underWay = new ArrayList<>();
  private int count;

  /** One fault as it was drawn. */
  private record Plan(Fault fault, long millis, boolean overlaps, long restMillis, long seed) {}

  Nemesis(ChaosSettings settings, Victims victims, Network network, History history) {
    this.kinds = Fault.named(settings.faults());
    this.victims = victims;
    this.network = network;
    this.history = history;
    this.random = new SplittableRandom(settings.seed());
    // In a short run one long fault must not be all there is.
    this.longestMillis = Math.max(8_000, settings.seconds() * 1_000 / 6);
  }

  /** Works for so long, and returns when all is undone; says what went wrong with the work. */
  Optional<String> workFor(Duration duration) {
    long end = System.nanoTime() + duration.toNanos();
    try {
      List<Fault> deck = new ArrayList<>();
      pause(WARM_UP_MILLIS);
      while (System.nanoTime() - end < 0) {
        if (deck.isEmpty()) {
          deck.addAll(kinds);
        }
        Plan plan = draw(deck.remove(random.nextInt(deck.size())));
        begin(plan, end);
      }
      over.countDown();
      for (Future<?> fault : underWay) {
        fault.get(UNDO_SECONDS, TimeUnit.SECONDS);
      }
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.of("interrupted");
    } catch (ExecutionException | java.util.concurrent.TimeoutException e) {
      return Optional.of("a fault could not be done or undone: " + e);
    } finally {
      over.countDown();
      executor.shutdownNow();
    }
  }

  private Plan draw(Fault fault) {
    long most = Math.max(fault.minMillis() + 1, Math.min(fault.maxMillis(), longestMillis));
    return new Plan(
        fault,
        random.nextLong(fault.minMillis(), most),
        random.nextInt(3) == 0,
        random.nextLong(1_500, 6_000),
        random.nextLong());
  }

  private void begin(Plan plan, long end) throws InterruptedException, ExecutionException {
    SplittableRandom details = new SplittableRandom(plan.seed());
    Optional<Victims.Taken> taken = victims.take(plan.fault(), details);
    long patience = Math.min(end, System.nanoTime() + TimeUnit.SECONDS.toNanos(VICTIM_SECONDS));
    while (taken.isEmpty() && System.nanoTime() - patience < 0) {
      pause(POLL_MILLIS);
      taken = victims.take(plan.fault(), details);
    }
    if (taken.isEmpty()) {
      return;
    }
    Victims.Taken those = taken.get();
    Future<?> fault = executor.submit(() -> perform(plan, those, details));
    underWay.add(fault);
    long rest = Math.min(plan.restMillis(), TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime()));
    if (!plan.overlaps()) {
      awaitDone(fault, end);
    }
    pause(rest);
  }

  private void awaitDone(Future<?> fault, long end) throws InterruptedException {
    while (!fault.isDone() && System.nanoTime() - end < 0) {
      pause(POLL_MILLIS);
    }
  }

  private void pause(long millis) throws InterruptedException {
    over.await(Math.max(0, millis), TimeUnit.MILLISECONDS);
  }

  private Void perform(Plan plan, Victims.Taken taken, SplittableRandom details)
      throws InterruptedException {
    long number = nextNumber();
    record("begin", number, plan, taken);
    Stage stage =
        new Stage(
            taken.coordinators(),
            taken.zookeepers(),
            taken.clients(),
            network,
            plan.millis(),
            details,
            over,
            history);
    plan.fault().action().on(stage);
    record("end", number, plan, taken);
    long patience = System.nanoTime() + TimeUnit.SECONDS.toNanos(WELL_SECONDS);
    while (!taken.areWell() && System.nanoTime() - patience < 0) {
      if (over.await(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
        break;
      }
    }
    victims.release(taken.names());
    return null;
  }

  private synchronized long nextNumber() {
    return ++count;
  }

  private void record(String phase, long number, Plan plan, Victims.Taken taken) {
    history
        .line("fault")
        .with("phase", phase)
        .with("number", number)
        .with("kind", plan.fault().kind())
        .with("millis", plan.millis())
        .with("victims", taken.names())
        .write();
    System.out.printf(
        "chaos: fault %d %s, %s, %s, %d ms%n",
        number, phase, plan.fault().kind(), taken.names(), plan.millis());
  }
}
