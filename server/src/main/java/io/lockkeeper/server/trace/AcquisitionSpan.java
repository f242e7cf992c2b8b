package io.lockkeeper.server.trace;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Contender;
import io.lockkeeper.server.core.api.HoldEnd;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.Occurrence;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * The span of one acquisition, from its request to its end, with what it was told as events, and
 * links to the spans of those whom it waited for. Requested on one thread, then for the event loop
 * only.
 */
final class AcquisitionSpan {

  private static final int MAX_LINKS = 16;
  private static final AttributeKey<List<String>> LOCKS =
      AttributeKey.stringArrayKey("lockkeeper.locks");
  private static final AttributeKey<String> REQUEST =
      AttributeKey.stringKey("lockkeeper.request_id");
  private static final AttributeKey<String> OUTCOME = AttributeKey.stringKey("lockkeeper.outcome");
  private static final AttributeKey<Long> AHEAD = AttributeKey.longKey("lockkeeper.ahead");
  private static final AttributeKey<List<Long>> TOKENS =
      AttributeKey.longArrayKey("lockkeeper.fencing_tokens");
  private static final AttributeKey<String> RELATION =
      AttributeKey.stringKey("lockkeeper.relation");

  private final Span span;
  private final Set<String> linked = new HashSet<>();

  private AcquisitionSpan(Span span) {
    this.span = span;
  }

  /** Starts the span of a request, as a child of what its metadata names. */
  static AcquisitionSpan start(Tracer tracer, AcquireCommand command) {
    return new AcquisitionSpan(
        tracer
            .spanBuilder("lockkeeper.acquisition")
            .setParent(TraceContext.parentIn(command.metadata()))
            .setAttribute(
                LOCKS, command.locks().stream().map(wanted -> wanted.name().value()).toList())
            .setAttribute(REQUEST, command.requestId())
            .startSpan());
  }

  SpanContext context() {
    return span.getSpanContext();
  }

  /** Notes what happened; returns whether that was the end. */
  boolean on(Occurrence occurrence) {
    Notice notice = occurrence.notice();
    if (notice instanceof Notice.Queued queued) {
      long ahead = Notice.Place.most(queued.places());
      span.addEvent("queued", Attributes.of(AHEAD, ahead));
      linkToHolders(queued.places());
    } else if (notice instanceof Notice.Position position) {
      linkToHolders(position.places());
    } else if (notice instanceof Notice.Granted granted) {
      List<Long> tokens = granted.grants().stream().map(grant -> grant.token().value()).toList();
      span.addEvent("granted", Attributes.of(TOKENS, tokens));
    } else if (notice instanceof Notice.Jeopardy) {
      span.addEvent("jeopardy");
    } else if (notice instanceof Notice.Safe) {
      span.addEvent("safe");
    } else if (notice instanceof Notice.ReleaseRequested) {
      span.addEvent("release_requested");
    } else if (notice instanceof Notice.Contended) {
      span.addEvent("contended");
    } else if (notice instanceof Notice.Released) {
      end(occurrence.end() == HoldEnd.CANCELLED ? "cancelled" : "released");
    } else if (notice instanceof Notice.Lost lost) {
      onLost(lost.reason());
    } else if (notice instanceof Notice.NotAcquired refused) {
      link(refused.holders());
      end(key(refused.reason()));
    }
    return notice.isFinal();
  }

  private void onLost(Notice.LossReason reason) {
    if (reason != Notice.LossReason.LEASE_CLOSED) {
      span.addEvent("lost", Attributes.of(OUTCOME, key(reason)));
      span.setStatus(StatusCode.ERROR, "the locks were lost");
    }
    end(key(reason));
  }

  private static String key(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  /** Ends the span. */
  void end(String outcome) {
    span.setAttribute(OUTCOME, outcome).end();
  }

  private void linkToHolders(List<Notice.Place> places) {
    places.forEach(place -> link(place.holders()));
  }

  private void link(List<Contender> holders) {
    for (Contender holder : holders) {
      SpanContext held = TraceContext.in(holder.metadata());
      if (held.isValid() && linked.size() < MAX_LINKS && linked.add(held.getSpanId())) {
        span.addLink(held, Attributes.of(RELATION, "waits_for"));
      }
    }
  }
}
