package io.lockkeeper.examples.micronaut;

import io.micronaut.http.annotation.Controller;
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
}
