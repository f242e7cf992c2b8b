package io.lockkeeper.examples.quarkus;

import io.lockkeeper.client.LockLostException;
import io.lockkeeper.client.LockkeeperException;
import jakarta.inject.Singleton;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import java.util.concurrent.CompletionStage;
import org.jboss.resteasy.reactive.RestResponse;
import org.jboss.resteasy.reactive.RestResponse.Status;
import org.jboss.resteasy.reactive.server.ServerExceptionMapper;

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

  @ServerExceptionMapper
  RestResponse<String> outOfStock(OutOfStockException failure) {
    return RestResponse.status(Status.CONFLICT, failure.getMessage() + "\n");
  }

  /** The item may be sold: only the ledger of a real shop could tell. */
  @ServerExceptionMapper
  RestResponse<String> lost(LockLostException failure) {
    return RestResponse.status(
        Status.INTERNAL_SERVER_ERROR, "the lock was lost on the way: look before trying again\n");
  }

  /** Somebody else held the lock all the time, or no coordinator answers: nothing was sold. */
  @ServerExceptionMapper
  RestResponse<String> noLock(LockkeeperException failure) {
    return RestResponse.status(Status.SERVICE_UNAVAILABLE, "not now: try again\n");
  }
}
