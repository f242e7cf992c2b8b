package io.lockkeeper.integration.failover;

import io.grpc.Channel;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.SessionResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.awaitility.Awaitility;

/** Somebody who takes a lock and releases it again, all the time, at one coordinator. */
final class Churn implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(40);
  private static final Duration REFUSED = Duration.ofMillis(100);
  private static final Duration TTL = Duration.ofMinutes(1);

  private final Guest guest;
  private final String lock;
  private final List<Long> tokens = new ArrayList<>();
  private final ExecutorService thread = Executors.newSingleThreadExecutor();
  private final CompletableFuture<Void> work;
  private volatile boolean ending;

  private Churn(Channel channel, String lock) {
    this.guest = Guest.at(channel, TTL);
    this.lock = lock;
    this.work = CompletableFuture.runAsync(this::run, thread);
  }

  /** Begins. */
  static Churn at(Channel channel, String lock) {
    return new Churn(channel, lock);
  }

  private void run() {
    for (int i = 0; !ending; i++) {
      String request = "churn-" + i;
      guest.ask(request, lock);
      guest.stream().responses().await("grant", r -> isGrantOrRefusal(r, request), PATIENCE);
      Optional<AcquireResponse> granted = guest.find(request, EventCase.GRANTED);
      if (granted.isPresent()) {
        synchronized (tokens) {
          tokens.add(granted.get().getGranted().getGrants(0).getFencingToken());
        }
        guest.release(request);
      } else {
        Pace.letPass(REFUSED);
      }
    }
  }

  /** While ZooKeeper is out of reach a request may be refused; then it is asked again. */
  private static boolean isGrantOrRefusal(
      SessionResponse response, String request) {
    boolean granted =
        response.hasEvent()
            && response.getEvent().getRequestId().equals(request)
            && response.getEvent().hasGranted();
    return granted
        || (response.hasRefused() && response.getRefused().getId().equals(request));
  }

  /** Waits for so many grants more than there are. */
  void awaitMore(int grants) {
    int wanted = tokens().size() + grants;
    Awaitility.await("grants of " + lock)
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(20))
        .failFast("it has stopped", work::isDone)
        .until(() -> tokens().size() >= wanted);
  }

  /** Returns the tokens of its grants, in their order. */
  List<Long> tokens() {
    synchronized (tokens) {
      return List.copyOf(tokens);
    }
  }

  @Override
  public void close() {
    ending = true;
    try {
      work.join();
    } finally {
      thread.shutdownNow();
      guest.close();
    }
  }
}
