package io.lockkeeper.examples.micronaut;

import io.lockkeeper.client.LockLostException;
import io.lockkeeper.client.LockkeeperException;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Error;
import io.micronaut.http.annotation.Post;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import java.util.concurrent.CompletableFuture;

/** Sells over HTTP. */
@Controller("/sales/{item}")
public final class SalesController {

  private final Shop shop;

  /** Makes one that sells what {@code shop} does. */
  public SalesController(Shop shop) {
    this.shop = shop;
  }

  /** May wait: {@code @ExecuteOn} takes it off the event loop. */
  @Post
  @ExecuteOn(TaskExecutors.BLOCKING)
  public int sell(String item) throws InterruptedException {
    return shop.sell(item);
  }

  /** Runs on the event loop: it must not wait. */
  @Post("/async")
  public CompletableFuture<Integer> sellAsync(String item) {
    return shop.sellAsync(item);
  }

  @Error
  HttpResponse<String> outOfStock(OutOfStockException failure) {
    return HttpResponse.<String>status(HttpStatus.CONFLICT).body(failure.getMessage() + "\n");
  }

  /** The item may be sold: only the ledger of a real shop could tell. */
  @Error
  HttpResponse<String> lost(LockLostException failure) {
    return HttpResponse.<String>status(HttpStatus.INTERNAL_SERVER_ERROR)
        .body("the lock was lost on the way: look before trying again\n");
  }

  /** Somebody else held the lock all the time, or no coordinator answers: nothing was sold. */
  @Error
  HttpResponse<String> noLock(LockkeeperException failure) {
    return HttpResponse.<String>status(HttpStatus.SERVICE_UNAVAILABLE).body("not now: try again\n");
  }
}
