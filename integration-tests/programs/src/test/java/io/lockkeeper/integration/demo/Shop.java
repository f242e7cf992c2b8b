package io.lockkeeper.integration.demo;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockkeeperClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * One shop process. Its buyers come within a second and a half, look whether something is left,
 * take half a second to pay, and take the item out of the stock. Says on its output what happens, a
 * line each.
 *
 * <p>Nobody blocks a thread: buyers are callbacks, with the lock and without.
 */
final class Shop {

  static final String LOCK = "shop/stock";
  private static final long CHECKOUT_MILLIS = 500;
  private static final long ARRIVALS_MILLIS = 1_500;

  private final String name;
  private final Stock stock;
  private final Optional<LockkeeperClient> client;

  private Shop(String name, Stock stock, Optional<LockkeeperClient> client) {
    this.name = name;
    this.stock = stock;
    this.client = client;
  }

  /**
   * Arguments: the shop's name, how many buyers, the stock file, and the server, if there is one.
   */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    Stock stock = new Stock(Path.of(arguments[2]));
    Optional<LockkeeperClient> client =
        arguments.length > 3
            ? Optional.of(
                LockkeeperClient.builder(arguments[3]).plaintext().holder(arguments[0]).build())
            : Optional.empty();
    Shop shop = new Shop(arguments[0], stock, client);
    if (client.isPresent()) {
      // Connected before the doors open, so that no shop has an advantage.
      client.get().lock("shop/" + arguments[0] + "-opens").close();
    }
    say("ready");
    new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
    shop.serve(Integer.parseInt(arguments[1]));
    client.ifPresent(LockkeeperClient::close);
    say("closed");
  }

  private void serve(int buyers) {
    List<CompletableFuture<Void>> visits = new ArrayList<>();
    for (int i = 1; i <= buyers; i++) {
      String buyer = name + "-" + i;
      visits.add(after(ARRIVALS_MILLIS * i / buyers).thenCompose(arrived -> visit(buyer)));
    }
    visits.forEach(CompletableFuture::join);
  }

  private CompletableFuture<Void> visit(String buyer) {
    return client.map(c -> visitLocked(c, buyer)).orElseGet(() -> buy(buyer));
  }

  private CompletableFuture<Void> visitLocked(LockkeeperClient locks, String buyer) {
    long since = System.nanoTime();
    return locks
        .acquire(LockRequest.of(LOCK).holder(buyer))
        .thenCompose(lock -> buyLocked(lock, buyer, System.nanoTime() - since));
  }

  private CompletableFuture<Void> buyLocked(LockHandle lock, String buyer, long waitedNanos) {
    long waitedMillis = TimeUnit.NANOSECONDS.toMillis(waitedNanos);
    say("granted " + buyer + " " + waitedMillis);
    return buy(buyer).thenCompose(bought -> lock.releaseAsync());
  }

  /** Reads, pauses, writes: wrong unless nobody else does so meanwhile. */
  private CompletableFuture<Void> buy(String buyer) {
    int left = stock.read();
    if (left <= 0) {
      say("left " + buyer);
      return CompletableFuture.completedFuture(null);
    }
    return after(CHECKOUT_MILLIS)
        .thenRun(
            () -> {
              stock.write(left - 1);
              say("sold " + buyer);
            });
  }

  private static CompletableFuture<Void> after(long millis) {
    return CompletableFuture.runAsync(
        () -> {}, CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS));
  }

  private static synchronized void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
