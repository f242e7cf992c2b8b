package io.lockkeeper.server.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Contender;
import io.lockkeeper.server.core.api.HoldEnd;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.Occurrence;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.simulation.Wish;
import io.lockkeeper.server.testing.ViewSamples;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class TracesTest {

  private static final LockName LOCK = new LockName("shop/42");
  private static final String PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  private static final UUID HOLDER = new UUID(0, 1);
  private static final UUID WAITER = new UUID(0, 2);
  private static final Notice GRANTED = new Notice.Granted(new LeaseId(1, 2), List.of(), 1);

  private final InMemorySpanExporter exporter = InMemorySpanExporter.create();

  @AutoClose
  private final Traces traces =
      new Traces(SimpleSpanProcessor.create(exporter), Attributes.empty());

  private static AcquireCommand wanting(Map<String, String> metadata) {
    return Wish.named("request").exclusive(LOCK.value()).saying(metadata).command(Optional.empty());
  }

  private void happens(UUID id, Notice notice) {
    happens(id, notice, HoldEnd.UNKNOWN);
  }

  private void happens(UUID id, Notice notice, HoldEnd end) {
    traces.onOccurrence(
        new Occurrence(
            id,
            wanting(Map.of()),
            notice,
            end,
            OptionalLong.empty(),
            OptionalLong.empty(),
            OptionalLong.empty(),
            Optional.empty()));
  }

  private static Notice queuedBehind(AcquireCommand holder) {
    Contender contender = ViewSamples.holder(MutexKind.EXCLUSIVE, "holder", holder.metadata());
    return new Notice.Queued(
        List.of(new Notice.Place(LOCK, 1, List.of(contender), Optional.empty())));
  }

  private SpanData only() {
    assertThat(exporter.getFinishedSpanItems()).hasSize(1);
    return exporter.getFinishedSpanItems().get(0);
  }

  private static String outcome(SpanData span) {
    return String.valueOf(span.getAttributes().get(AttributeKey.stringKey("lockkeeper.outcome")));
  }

  @Test
  void acquisitionIsOneSpanUnderTheOneThatTheRequestNames() {
    // Given
    traces.onRequested(HOLDER, wanting(Map.of("traceparent", PARENT)));
    // When
    happens(HOLDER, new Notice.Queued(List.of()));
    happens(HOLDER, GRANTED);
    happens(HOLDER, new Notice.Jeopardy(1));
    happens(HOLDER, new Notice.Released(), HoldEnd.RELEASED);
    // Then
    SpanData span = only();
    assertThat(span.getTraceId()).isEqualTo("0af7651916cd43dd8448eb211c80319c");
    assertThat(span.getParentSpanId()).isEqualTo("b7ad6b7169203331");
    assertThat(span.getEvents())
        .extracting(EventData::getName)
        .containsExactly("queued", "granted", "jeopardy");
    assertThat(outcome(span)).isEqualTo("released");
    assertThat(span.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
    assertThat(traces.size()).isZero();
  }

  @Test
  void waiterIsLinkedToTheHolderOnce() {
    // Given
    AcquireCommand holder = traces.onRequested(HOLDER, wanting(Map.of()));
    traces.onRequested(WAITER, wanting(Map.of()));
    // When
    happens(WAITER, queuedBehind(holder));
    happens(WAITER, new Notice.Position(((Notice.Queued) queuedBehind(holder)).places()));
    happens(WAITER, new Notice.NotAcquired(Notice.RefusalReason.TIMED_OUT, ""));
    happens(HOLDER, GRANTED);
    happens(HOLDER, new Notice.Released(), HoldEnd.CANCELLED);
    // Then
    SpanData waited = exporter.getFinishedSpanItems().get(0);
    SpanData held = exporter.getFinishedSpanItems().get(1);
    assertThat(waited.getLinks())
        .singleElement()
        .satisfies(
            link -> assertThat(link.getSpanContext().getSpanId()).isEqualTo(held.getSpanId()));
    assertThat(outcome(waited)).isEqualTo("timed_out");
    assertThat(outcome(held)).isEqualTo("cancelled");
  }

  @Test
  void lossIsAnErrorAndAClosedLeaseIsNone() {
    // Given
    traces.onRequested(HOLDER, wanting(Map.of()));
    traces.onRequested(WAITER, wanting(Map.of()));
    // When
    happens(HOLDER, new Notice.Lost(Notice.LossReason.SESSION_LOST, ""));
    happens(WAITER, new Notice.Lost(Notice.LossReason.LEASE_CLOSED, ""));
    // Then
    assertThat(exporter.getFinishedSpanItems())
        .extracting(span -> outcome(span) + " " + span.getStatus().getStatusCode())
        .containsExactly("session_lost ERROR", "lease_closed UNSET");
  }

  @Test
  void whatCannotBeReadAsATraceContextIsReplaced() {
    // When
    AcquireCommand named = traces.onRequested(HOLDER, wanting(Map.of("traceparent", "nonsense")));
    // Then
    assertThat(named.metadata().get("traceparent"))
        .matches("00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}");
  }

  @Test
  void whatGoesOnElsewhereWhenTheCoordinatorStopsEndsAsLeft() {
    // Given
    List<String> outcomes = new ArrayList<>();
    Traces stopping = new Traces(noting(outcomes), Attributes.empty());
    AcquireCommand wanted = stopping.onRequested(HOLDER, wanting(Map.of()));
    stopping.onOccurrence(Occurrence.atOnce(HOLDER, wanted, GRANTED));
    stopping.onRequested(WAITER, wanting(Map.of()));
    // When
    stopping.close();
    // Then: of the second nothing was heard, and it may have been refused
    assertThat(outcomes).containsExactly("left");
    assertThat(stopping.size()).isZero();
  }

  private static SpanProcessor noting(List<String> outcomes) {
    return new SpanProcessor() {
      @Override
      public void onStart(Context parent, ReadWriteSpan span) {}

      @Override
      public boolean isStartRequired() {
        return false;
      }

      @Override
      public void onEnd(ReadableSpan span) {
        outcomes.add(outcome(span.toSpanData()));
      }

      @Override
      public boolean isEndRequired() {
        return true;
      }
    };
  }

  @Test
  void whatWasNotRequestedHereHasNoSpan() {
    // When
    happens(HOLDER, GRANTED);
    happens(HOLDER, new Notice.Released());
    // Then
    assertThat(exporter.getFinishedSpanItems()).isEmpty();
  }

  @Test
  void requestsOfWhichNothingIsHeardAreForgotten() {
    // When
    for (int i = 0; i < 30_000; i++) {
      traces.onRequested(new UUID(1, i), wanting(Map.of()));
    }
    // Then
    assertThat(traces.size()).isEqualTo(10_000);
  }
}
