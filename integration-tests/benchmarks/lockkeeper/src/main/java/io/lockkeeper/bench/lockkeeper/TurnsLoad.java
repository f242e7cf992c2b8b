package io.lockkeeper.bench.lockkeeper;

import io.lockkeeper.bench.load.Conversation;
import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClient;
import java.io.IOException;
import java.util.Map;

/**
 * One client that locks and unlocks when it is told to, so that two processes can take turns.
 *
 * <p>Words: {@code plain LOCK} and {@code kept LOCK}, answered with how long the acquire took.
 */
public final class TurnsLoad {

  private static final double NANOS_PER_MICRO = 1e3;

  private TurnsLoad() {}

  /** Answers words. Arguments: the server's address; what follows it is not used. */
  public static void main(String[] arguments) throws IOException {
    LockkeeperClient client =
        LockkeeperClient.builder(arguments[0])
            .holder("turns")
            .callbackExecutor(Runnable::run)
            .build();
    Conversation.run(
        (word, rest) -> {
          LockRequest plain = LockRequest.of(rest.get(0));
          LockRequest request =
              word.equals("kept") ? plain.keepUnused(LockkeeperLocks.KEEP) : plain;
          long askedNanos = System.nanoTime();
          try (LockHandle held = client.lock(request)) {
            return Map.of(
                "micros",
                (System.nanoTime() - askedNanos) / NANOS_PER_MICRO,
                "token",
                held.fencingToken());
          }
        });
  }
}
