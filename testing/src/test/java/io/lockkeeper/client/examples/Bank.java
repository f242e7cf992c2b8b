package io.lockkeeper.client.examples;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockSpec;
import io.lockkeeper.client.LockkeeperClient;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/** Moves money between two accounts under the locks of both, whatever order they are named in. */
final class Bank {

  private final LockkeeperClient client;
  private final Map<String, Integer> balances = new HashMap<>();

  Bank(LockkeeperClient client, String... accounts) {
    this.client = client;
    for (String account : accounts) {
      balances.put(account, 100);
    }
  }

  void transfer(String from, String to, int amount) throws InterruptedException {
    LockRequest both =
        LockRequest.of(LockSpec.exclusive("accounts/" + from), LockSpec.exclusive("accounts/" + to))
            .owner("transfer " + Thread.currentThread().getName())
            .maxHold(Duration.ofSeconds(30));
    try (LockHandle locks = client.lock(both)) {
      locks.checkValid();
      synchronized (balances) { // Of the map only: other accounts move meanwhile.
        balances.merge(from, -amount, Integer::sum);
        balances.merge(to, amount, Integer::sum);
      }
    }
  }

  int sum() {
    synchronized (balances) {
      return balances.values().stream().mapToInt(Integer::intValue).sum();
    }
  }
}
