package io.lockkeeper.server.web.api;

import com.google.protobuf.Message;
import io.grpc.Status;
import io.lockkeeper.server.web.http.Answer;
import io.lockkeeper.server.web.http.Page;
import io.lockkeeper.server.web.http.Request;
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

  /**
   * Prepares.
   *
   * @param channels the way to the services
   * @param version the server's version
   */
  public Api(ApiChannels channels, String version) {
    this.channels = channels;
    this.version = version;
  }

  /** Returns whether the path is one of the API. */
  public static boolean serves(String path) {
    return path.startsWith(Routes.BASE);
  }

  /** Answers a request of a caller. */
  public CompletableFuture<Answer> answer(Request request, ApiChannels.Caller caller) {
    if (!request.isRead() && isFromElsewhere(request)) {
      return now(
          Errors.page(
              403,
              Status.Code.PERMISSION_DENIED,
              "the header Origin says that a page of another site sends this"));
    }
    if (request.isRead() && request.path().equals(DESCRIPTION)) {
      return now(new Page(200, Errors.JSON_TYPE, OpenApi.json(version) + "\n"));
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
      return ApiCall.start(route.get(), message, channels.as(caller), request.thread());
    } catch (RequestParser.UnreadableException e) {
      return now(Errors.page(400, Status.Code.INVALID_ARGUMENT, String.valueOf(e.getMessage())));
    }
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

  private static CompletableFuture<Answer> now(Page page) {
    return CompletableFuture.completedFuture(page);
  }
}
