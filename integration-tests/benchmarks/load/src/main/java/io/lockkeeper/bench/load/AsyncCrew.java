package io.lockkeeper.bench.load;

import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Clients without a thread each: what one does next, it does where the answer arrives.
 *
 * @param <H> what was granted
 */
public final class AsyncCrew<H> implements Crew {

  private static final long PATIENCE_SECONDS = 60;

  private final Order order;
  private final Tally tally;
  private final AsyncLocks<H> locks;
  private final CountDownLatch working;
  private volatile boolean stopping;

  private AsyncCrew(Order order, Tally tally, AsyncLocks<H> locks) {
    this.order = order;
    this.tally = tally;
    this.locks = locks;
    this.working = new CountDownLatch(order.clients());
  }

  /** Sets the clients of an order to work. */
  public static <H> Crew start(Order order, Tally tally, AsyncLocks<H> locks) {
    AsyncCrew<H> crew = new AsyncCrew<>(order, tally, locks);
    for (int i = 0; i < order.clients(); i++) {
      crew.client(i);
    }
    return crew;
  }

  private void client(int number) {
    new Client(number).begin();
  }

  @Override
  public void stop() throws InterruptedException {
    stopping = true;
    if (!working.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException(working.getCount() + " clients do not end");
    }
  }

  /** One client; its answers come one after the other. */
  private final class Client {
    private final int number;
    private Optional<H> outer = Optional.empty();
    private long turn;
    private long askedNanos;

    Client(int number) {
      this.number = number;
    }

    void begin() {
      if (order.shape() == Order.Shape.REENTRY) {
        then(
            locks.acquire(number, order.lock(number, turn)),
            held -> {
              outer = Optional.of(held);
              next();
            });
      } else {
        next();
      }
    }

    private void end() {
      outer.ifPresentOrElse(
          held -> then(locks.release(number, held), released -> working.countDown()),
          working::countDown);
    }

    private void next() {
      if (stopping) {
        end();
        return;
      }
      turn++;
      askedNanos = System.nanoTime();
      then(locks.acquire(number, order.lock(number, turn)), this::held);
    }

    private void held(H held) {
      tally.acquired(System.nanoTime() - askedNanos);
      then(locks.release(number, held), released -> free());
    }

    private void free() {
      tally.released();
      next();
    }

    private <T> void then(CompletionStage<T> stage, Consumer<T> step) {
      stage.whenComplete(
          (value, failure) -> {
            if (failure == null) {
              step.accept(value);
            } else {
              tally.failed(failure);
              working.countDown();
            }
          });
    }
  }
}
