package io.lockkeeper.server.web;

import static io.lockkeeper.server.web.Html.escaped;
import static io.lockkeeper.server.web.Html.number;

import io.lockkeeper.server.coordinator.api.CoordinatorStatus;
import io.lockkeeper.server.coordinator.api.CoordinatorStatus.SessionStatus;
import io.lockkeeper.server.core.api.LockView;
import java.util.List;
import java.util.Optional;

/**
 * The plain page that shows a person how the coordinator is. One document, no scripts, nothing from
 * elsewhere.
 */
final class StatusPage {

  private static final String STYLE =
      """
      :root { color-scheme: light dark; --line: #8884; --soft: #888; }
      body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1rem; }
      h1 { font-size: 1.4rem; margin: 0; } h2 { font-size: 1rem; margin: 2rem 0 .5rem; }
      .soft { color: var(--soft); margin: 0 0 1.5rem; }
      .state { display: inline-block; padding: .15rem .7rem; border-radius: 1rem; color: #fff; font-weight: 600; }
      .good { background: #1a7f4b; } .bad { background: #b3261e; }
      table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
      th, td { text-align: left; padding: .35rem .5rem; border-bottom: 1px solid var(--line); }
      th { font-weight: 500; color: var(--soft); } td.n { text-align: right; }
      nav a { margin-right: 1rem; }
      """;

  private final HttpSettings settings;

  StatusPage(HttpSettings settings) {
    this.settings = settings;
  }

  /** Returns the page for {@code status}; {@code locks} are empty where they cannot be told. */
  String render(CoordinatorStatus status, Optional<List<LockView>> locks) {
    StringBuilder page = new StringBuilder(4_096);
    page.append("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
        .append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
        .append("<meta http-equiv=\"refresh\" content=\"5\">\n<title>Lockkeeper ")
        .append(escaped(settings.coordinatorId()))
        .append("</title>\n<style>\n")
        .append(STYLE)
        .append("</style>\n</head>\n<body>\n<h1>Lockkeeper</h1>\n<p class=\"soft\">coordinator ")
        .append(escaped(settings.coordinatorId()))
        .append(" · version ")
        .append(escaped(settings.version()))
        .append("</p>\n");
    state(page, Readiness.of(status));
    LocksTable.append(page, locks);
    queues(page, status);
    sessions(page, status);
    page.append("<h2>More</h2>\n<nav><a href=\"/metrics\">metrics</a>")
        .append("<a href=\"/healthz\">healthz</a><a href=\"/readyz\">readyz</a></nav>\n")
        .append("</body>\n</html>\n");
    return page.toString();
  }

  private static void state(StringBuilder page, Readiness readiness) {
    page.append("<p><span class=\"state ")
        .append(readiness.serving() ? "good\">serving" : "bad\">not serving")
        .append("</span></p>\n");
    if (!readiness.reasons().isEmpty()) {
      page.append("<ul>\n");
      readiness
          .reasons()
          .forEach(why -> page.append("<li>").append(escaped(why)).append("</li>\n"));
      page.append("</ul>\n");
    }
  }

  private static void queues(StringBuilder page, CoordinatorStatus status) {
    page.append("<h2>Queues</h2>\n<table>\n");
    row(page, "Locks in use", status.locks());
    row(page, "Entries in the mirror", status.entries());
    row(page, "Leases", status.leases());
    row(page, "Acquisitions", status.acquisitions());
    row(page, "… of them held", status.held());
    row(page, "Watches", status.watches());
    row(page, "Deletes owed", status.deletesOwed());
    row(page, "Event loop delay, µs", status.loopDelayNanos() / 1_000);
    page.append("</table>\n");
  }

  private void sessions(StringBuilder page, CoordinatorStatus status) {
    page.append("<h2>Lock sessions</h2>\n<table>\n<tr><th>Session</th><th>Connected</th>")
        .append("<th>Proved alive</th><th>Leases</th><th>Path bytes</th></tr>\n");
    for (SessionStatus session : status.sessions()) {
      page.append("<tr><td>")
          .append(escaped(session.name()))
          .append("</td><td>")
          .append(session.connected() ? "yes" : "no")
          .append("</td><td>")
          .append(session.provenAlive() ? "yes" : "no")
          .append("</td><td class=\"n\">")
          .append(number(session.leases()))
          .append("</td><td class=\"n\">")
          .append(number(session.pathBytes()))
          .append(" of ")
          .append(number(settings.sessionPathBytesCap()))
          .append("</td></tr>\n");
    }
    if (status.sessions().isEmpty()) {
      page.append("<tr><td colspan=\"5\">none</td></tr>\n");
    }
    page.append("</table>\n");
  }

  private static void row(StringBuilder page, String label, long value) {
    page.append("<tr><th>")
        .append(escaped(label))
        .append("</th><td class=\"n\">")
        .append(number(value))
        .append("</td></tr>\n");
  }
}
