package io.lockkeeper.server.web;

import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.CoordinatorStatus;
import io.lockkeeper.server.security.Audit;
import io.lockkeeper.server.security.Identity;
import io.lockkeeper.server.security.TooManyFailuresException;
import io.lockkeeper.server.security.UnauthenticatedException;
import io.lockkeeper.server.web.api.Api;
import io.lockkeeper.server.web.api.ApiChannels;
import io.lockkeeper.server.web.api.Challenge;
import io.lockkeeper.server.web.http.Page;
import io.lockkeeper.server.web.http.Request;
import io.lockkeeper.server.web.http.Response;
import io.lockkeeper.server.web.http.Site;
import io.lockkeeper.server.web.http.Visitor;
import io.lockkeeper.server.web.http.WebRefusals;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import tools.jackson.databind.json.JsonMapper;

/** Which page there is under which path, and who may see it. */
final class Pages {

  private static final int OK = 200;
  private static final int UNAUTHORIZED = 401;
  private static final int NOT_FOUND = 404;
  private static final int MISDIRECTED = 421;
  private static final int TOO_MANY = 429;
  private static final int UNAVAILABLE = 503;
  private static final String METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private static final String HEALTH = "/healthz";
  private static final Pattern PORT = Pattern.compile(":\\d*$");
  private static final Pattern NO_NAME =
      Pattern.compile("(?i)(localhost|[0-9.]+|\\[[0-9a-f:.]+])(:[0-9]*)?");

  private final Coordinator coordinator;
  private final PrometheusMeterRegistry registry;
  private final CoordinatorMetrics metrics;
  private final PageFiles files = new PageFiles();
  private final boolean locksForAll;
  private final Supplier<Optional<String>> impediment;
  private final Api api;
  private final WebRefusals refusals;
  private final JsonMapper json = JsonMapper.builder().build();

  Pages(
      HttpSettings settings,
      Coordinator coordinator,
      PrometheusMeterRegistry registry,
      Supplier<Optional<String>> impediment,
      Api api,
      WebRefusals refusals) {
    this.coordinator = coordinator;
    this.registry = registry;
    this.metrics = new CoordinatorMetrics(coordinator, settings.sessionPathBytesCap(), registry);
    this.locksForAll = settings.locksForAll();
    this.impediment = impediment;
    this.api = api;
    this.refusals = refusals;
  }

  /** Returns the pages for everybody, with the web page where its locks are no secret. */
  Site open(HttpSettings settings) {
    if (!locksForAll) {
      return request -> at(request, () -> now(elsewhere(settings.pages())));
    }
    return request -> {
      if (isMisdirected(request, settings)) {
        refusals.count(WebRefusals.Limit.HTTP_ORIGIN);
        return now(Page.text(MISDIRECTED, "ask for localhost, or by address\n"));
      }
      return at(
          request,
          () ->
              Api.serves(request.path())
                  ? api.answer(request, nobodyKnown(request.visitor()))
                  : now(file(request)));
    };
  }

  private static ApiChannels.Caller nobodyKnown(Visitor visitor) {
    return new ApiChannels.Caller(visitor.address(), Optional.empty(), Optional.empty());
  }

  /**
   * Returns whether the visitor believes to be elsewhere: a browser whose page has a name that was
   * made to mean this machine, so that its scripts can read what is here, or change it. Where other
   * machines come, they may use any name, but pages that change something may not.
   */
  private static boolean isMisdirected(Request request, HttpSettings settings) {
    boolean matters =
        settings.forThisMachine()
            ? !request.path().equals(HEALTH)
            : !request.isRead() && request.header("Origin").isPresent();
    Optional<String> host = request.visitor().host();
    return matters
        && host.isPresent()
        && !NO_NAME.matcher(host.get()).matches()
        && !settings
            .advertised()
            .map(name -> name.equalsIgnoreCase(PORT.matcher(host.get()).replaceFirst("")))
            .orElse(false);
  }

  private static Page elsewhere(Optional<PagesSettings> pages) {
    return Page.text(
        NOT_FOUND,
        pages
            .map(
                there ->
                    "the web page names locks: it is served over HTTPS, at "
                        + there.host()
                        + ":"
                        + there.port()
                        + "\n")
            .orElse(
                "the web page names locks, and is not served: set --pages to serve it over HTTPS to those who may"
                    + " see it\n"));
  }

  /** Returns the pages for those who say who they are. */
  Site closed(PagesSettings settings) {
    Visitors visitors = new Visitors(settings);
    return request ->
        at(
            request,
            () -> {
              Visitor visitor = request.visitor();
              try {
                if (Api.serves(request.path())) {
                  return api.answer(request, visitors.caller(visitor));
                }
                var unused = visitors.identify(visitor);
                return now(file(request));
              } catch (UnauthenticatedException e) {
                String why = String.valueOf(e.getMessage());
                settings.audit().record(refusal(visitor, why));
                return now(
                    Page.text(UNAUTHORIZED, why + "\n").with("WWW-Authenticate", Challenge.BASIC));
              } catch (TooManyFailuresException e) {
                return now(Page.text(TOO_MANY, e.getMessage() + "\n").with("Retry-After", "1"));
              }
            });
  }

  private static Audit.Entry refusal(Visitor visitor, String why) {
    return new Audit.Entry(
        Audit.PAGES, Identity.ANONYMOUS, visitor.peer(), "UNAUTHENTICATED", why, Map.of());
  }

  /**
   * Answers.
   *
   * @param guarded answers what names locks
   */
  private CompletableFuture<Response> at(
      Request request, Supplier<CompletableFuture<Response>> guarded) {
    if (Api.serves(request.path())) {
      return guarded.get();
    }
    if (!request.isRead()) {
      return now(Page.text(405, "only GET and HEAD\n").with("Allow", "GET, HEAD"));
    }
    return switch (request.path()) {
      case "/metrics" -> now(metrics());
      case HEALTH -> now(Page.text(OK, "alive\n"));
      case "/readyz" -> now(ready());
      default -> files.has(request.path()) ? guarded.get() : now(file(request));
    };
  }

  private static CompletableFuture<Response> now(Page page) {
    return CompletableFuture.completedFuture(page);
  }

  private Readiness readiness(CoordinatorStatus status) {
    return Readiness.of(status, impediment.get(), locksForAll);
  }

  private Page file(Request request) {
    return files
        .at(request)
        .orElseGet(
            () -> Page.text(NOT_FOUND, "not found: see /, /v1/, /metrics, /healthz, /readyz\n"));
  }

  private Page metrics() {
    metrics.refresh();
    return new Page(OK, METRICS_TYPE, registry.scrape(METRICS_TYPE));
  }

  private Page ready() {
    Readiness readiness = readiness(coordinator.status());
    return new Page(
        readiness.serving() ? OK : UNAVAILABLE,
        "application/json",
        json.writeValueAsString(readiness) + "\n");
  }
}
