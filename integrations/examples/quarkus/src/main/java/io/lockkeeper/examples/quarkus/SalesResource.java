package io.lockkeeper.examples.quarkus;

import jakarta.inject.Singleton;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import java.util.concurrent.CompletionStage;

/** Sells over HTTP. */
@Singleton
@Path("/sales/{item}")
public final class SalesResource {

  private final Shop shop;

  /** Makes one that sells what {@code shop} does. */
  public SalesResource(Shop shop) {
    this.shop = shop;
  }

  /** Runs on a worker thread, as it returns a plain value: it may wait. */
  @POST
  public int sell(@PathParam("item") String item) throws InterruptedException {
    return shop.sell(item);
  }

  /** Runs on the event loop, as it returns a stage: it must not wait. */
  @POST
  @Path("/async")
  public CompletionStage<Integer> sellAsync(@PathParam("item") String item) {
    return shop.sellAsync(item);
  }
}
