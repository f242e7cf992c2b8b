package io.lockkeeper.server.web.api;

import com.google.protobuf.Message;
import io.grpc.Status;
import io.lockkeeper.server.web.http.Page;
import io.lockkeeper.server.web.http.Request;
import io.lockkeeper.server.web.http.Response;
import io.lockkeeper.server.web.http.WebRefusals;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The API over HTTP: every call of gRPC that takes one request, with JSON in and out. Who calls,
 * what he may do and how much of it is decided where gRPC's calls are.
 */
public final class Api {

  private static final String DESCRIPTION = Routes.BASE + "openapi.json";

  private final ApiChannels channels;
  private final String version;
  private final WebRefusals refusals;
  private volatile Optional<Page> description = Optional.empty();

  /**
   * Prepares.
   *
   * @param channels the way to the services
   * @param version the server's version
   * @param refusals counts requests from pages of other sites
   */
  public Api(ApiChannels channels, String version, WebRefusals refusals) {
    this.channels = channels;
    this.version = version;
    this.refusals = refusals;
  }

  /** Returns whether the path is one of the API. */
  public static boolean serves(String path) {
    return path.startsWith(Routes.BASE);
  }

  /** Answers a request of a caller. */
  public CompletableFuture<Response> answer(Request request, ApiChannels.Caller caller) {
    if (!request.isRead() && isFromElsewhere(request)) {
      refusals.count(WebRefusals.Limit.HTTP_ORIGIN);
      return now(
          Errors.page(
              403,
              Status.Code.PERMISSION_DENIED,
              "the header Origin says that a page of another site sends this"));
    }
    if (request.isRead() && request.path().equals(DESCRIPTION)) {
      return now(description());
    }
    Optional<Route> route = Routes.at(!request.isRead(), request.path());
    if (route.isEmpty()) {
      return now(notThere(request));
    }
    if (request.method().equals("HEAD") && route.get().streams()) {
      return now(Errors.page(405, Status.Code.INVALID_ARGUMENT, "only GET").with("Allow", "GET"));
    }
    try {
      Message message = RequestParser.read(route.get(), request);
      Optional<Page> refusal =
          route.get().streams() ? request.streamPlace().get().map(Api::refusal) : Optional.empty();
      if (refusal.isPresent()) {
        return now(refusal.get());
      }
      return ApiCall.start(route.get(), message, channels.as(caller), request.thread());
    } catch (RequestParser.UnreadableException e) {
      return now(Errors.page(400, Status.Code.INVALID_ARGUMENT, String.valueOf(e.getMessage())));
    }
  }

  private static Page refusal(Request.StreamRefusal why) {
    return switch (why) {
      case OLD_PROTOCOL -> Errors.page(505, Status.Code.UNIMPLEMENTED, "a stream needs HTTP/1.1");
      case NO_PLACE ->
          Errors.page(
              429, Status.Code.RESOURCE_EXHAUSTED, "the server has as many streams as it may have");
    };
  }

  /** Made when it is first asked for: that takes a tenth of a second. */
  private Page description() {
    Page page =
        description.orElseGet(() -> new Page(200, Errors.JSON_TYPE, OpenApi.json(version) + "\n"));
    description = Optional.of(page);
    return page;
  }

  /**
   * A browser sends along who he is, whichever page makes it ask; and it says which page that is
   * whenever something is to be changed.
   */
  private static boolean isFromElsewhere(Request request) {
    Optional<String> origin = request.header("Origin");
    return origin.isPresent()
        && !origin
            .get()
            .replaceFirst("^https?://", "")
            .equalsIgnoreCase(request.visitor().host().orElse(""));
  }

  private static Page notThere(Request request) {
    boolean otherwise = Routes.at(request.isRead(), request.path()).isPresent();
    if (otherwise) {
      String allowed = request.isRead() ? "POST" : "GET";
      return Errors.page(405, Status.Code.INVALID_ARGUMENT, "only " + allowed)
          .with("Allow", allowed);
    }
    return Errors.page(
        404,
        Status.Code.NOT_FOUND,
        "nothing of the API is at " + request.path() + "; see " + DESCRIPTION);
  }

  private static CompletableFuture<Response> now(Page page) {
    return CompletableFuture.completedFuture(page);
  }
}
