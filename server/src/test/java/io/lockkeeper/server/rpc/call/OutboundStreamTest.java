package io.lockkeeper.server.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Int64Value;
import io.lockkeeper.server.core.api.Failure.Reason;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.rpc.wire.EventTopic;
import io.lockkeeper.server.rpc.wire.Statuses;
import io.lockkeeper.server.testing.ViewSamples;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class OutboundStreamTest {

  private static final int PLENTY = 10_000_000;
  private static final long HEARTBEAT = -1;

  private final NotingCall<Int64Value> call = new NotingCall<>();

  private static Int64Value number(long value) {
    return Int64Value.of(value);
  }

  private static Optional<EventTopic> position(String requestId) {
    return EventTopic.of(requestId, new Notice.Position(List.of()));
  }

  private List<Long> sent() {
    return call.sent.stream().map(Int64Value::getValue).toList();
  }

  @Test
  void threadsThatSendAtOnceNeverMeetInTheCall() throws Exception {
    // Given
    OutboundStream<Int64Value> out = new OutboundStream<>(call, PLENTY, PLENTY);
    int threads = 8;
    long each = 50_000;
    ExecutorService senders = Executors.newFixedThreadPool(threads);
    List<Future<?>> sending = new ArrayList<>();
    // When
    for (int thread = 0; thread < threads; thread++) {
      long base = thread * each;
      sending.add(
          senders.submit(
              () -> {
                for (long i = 0; i < each; i++) {
                  long value = base + i;
                  out.send(() -> number(value));
                }
              }));
    }
    for (Future<?> sender : sending) {
      sender.get(60, TimeUnit.SECONDS);
    }
    out.complete();
    senders.shutdown();
    // Then
    assertThat(call.overlaps).hasValue(0);
    assertThat(call.sent).hasSize((int) (threads * each));
    for (int thread = 0; thread < threads; thread++) {
      long base = thread * each;
      assertThat(sent().stream().filter(v -> v >= base && v < base + each)).isSorted();
    }
    assertThat(call.ends).containsExactly("completed");
  }

  @Test
  void nothingLeavesUntilTheClientIsReady() {
    // Given
    call.ready = false;
    OutboundStream<Int64Value> out = new OutboundStream<>(call, 10, PLENTY);
    out.send(() -> number(1));
    assertThat(call.sent).isEmpty();
    // When
    call.becomeReady();
    // Then
    assertThat(sent()).containsExactly(1L);
  }

  @Test
  void messagesBeyondTheCapEndTheStreamOnce() {
    // Given
    call.ready = false;
    AtomicInteger ended = new AtomicInteger();
    OutboundStream<Int64Value> out = new OutboundStream<>(call, 10, PLENTY);
    out.onEnd(ended::incrementAndGet);
    // When
    for (int i = 0; i < 100; i++) {
      out.send(() -> number(1));
    }
    // Then
    assertThat(call.ends).hasSize(1);
    assertThat(call.ends.get(0)).contains("RESOURCE_EXHAUSTED");
    assertThat(ended).hasValue(1);
    assertThat(out.isEnded()).isTrue();
  }

  @Test
  void bytesBeyondTheCapEndTheStreamToo() {
    // Given
    call.ready = false;
    OutboundStream<Int64Value> out = new OutboundStream<>(call, PLENTY, 100);
    // When
    for (int i = 0; i < 100; i++) {
      out.send(() -> number(Long.MAX_VALUE));
    }
    // Then
    assertThat(call.ends).hasSize(1);
  }

  @Test
  void whatWaitsAtTheEndIsSentBeforeIt() {
    // Given
    call.ready = false;
    OutboundStream<Int64Value> out = new OutboundStream<>(call, 10, PLENTY);
    out.send(() -> number(1));
    out.send(() -> number(2));
    // When
    out.complete();
    // Then
    assertThat(sent()).containsExactly(1L, 2L);
    assertThat(call.ends).containsExactly("completed");
  }

  @Test
  void cancelledStreamDropsEverythingSilently() {
    // Given
    AtomicInteger ended = new AtomicInteger();
    OutboundStream<Int64Value> out = new OutboundStream<>(call, 10, PLENTY);
    out.onEnd(ended::incrementAndGet);
    // When
    call.cancel();
    out.send(() -> number(1));
    out.complete();
    out.fail(Statuses.of(ViewSamples.refused(Reason.UNAVAILABLE)));
    // Then
    assertThat(call.sent).isEmpty();
    assertThat(call.ends).isEmpty();
    assertThat(ended).hasValue(1);
  }

  @Test
  void streamWhoseCallOthersHaveEndedEndsAndHoldsNothing() {
    // Given
    AtomicInteger ended = new AtomicInteger();
    OutboundStream<Int64Value> out = new OutboundStream<>(call, 10, PLENTY);
    out.onEnd(ended::incrementAndGet);
    // When
    call.close();
    out.send(() -> number(1));
    // Then
    assertThat(out.isEnded()).isTrue();
    assertThat(call.sent).isEmpty();
    assertThat(call.ends).isEmpty();
    assertThat(ended).hasValue(1);
  }

  @Test
  void callThatThrowsDoesNotReachTheSender() {
    // Given
    AtomicInteger ended = new AtomicInteger();
    OutboundStream<Int64Value> out = new OutboundStream<>(call, 10, PLENTY);
    out.onEnd(ended::incrementAndGet);
    call.broken = true;
    // When
    out.send(() -> number(1));
    out.send(() -> number(2));
    // Then
    assertThat(call.sent).isEmpty();
    assertThat(call.ends).hasSize(1);
    assertThat(ended).hasValue(1);
  }

  @Test
  void messageThatCannotBeMadeEndsTheStream() {
    // Given
    OutboundStream<Int64Value> out = new OutboundStream<>(call, 10, PLENTY);
    // When
    out.send(
        () -> {
          throw new IllegalStateException("no event for this");
        });
    // Then
    assertThat(call.ends.get(0)).contains("INTERNAL");
  }

  @Test
  void roomIsAnnouncedOnceThereIsSome() {
    // Given
    call.ready = false;
    AtomicInteger room = new AtomicInteger();
    OutboundStream<Int64Value> out = new OutboundStream<>(call, 10, PLENTY);
    out.onRoom(room::incrementAndGet);
    for (int i = 0; i < 6; i++) {
      out.send(() -> number(1));
    }
    assertThat(out.hasRoom()).isFalse();
    assertThat(out.isReady()).isFalse();
    assertThat(room).hasValue(0);
    // When
    call.becomeReady();
    // Then
    assertThat(room).hasValue(1);
    assertThat(out.hasRoom()).isTrue();
    assertThat(out.isReady()).isTrue();
  }

  @Test
  void heartbeatIsSentOnlyWhereNothingElseWas() {
    // Given
    OutboundStream<Int64Value> out = new OutboundStream<>(call, 10, PLENTY);
    beat(out, OutboundStream.QUIET_BEATS - 1);
    out.send(() -> number(1));
    // When
    beat(out, OutboundStream.QUIET_BEATS - 1);
    // Then
    assertThat(sent()).containsExactly(1L);
    // When
    beat(out, 1 + OutboundStream.QUIET_BEATS);
    // Then
    assertThat(sent()).containsExactly(1L, HEARTBEAT, HEARTBEAT);
  }

  @Test
  void heartbeatsDoNotPileUpForASlowReader() {
    // Given
    call.ready = false;
    OutboundStream<Int64Value> out = new OutboundStream<>(call, 10, PLENTY);
    // When
    beat(out, 100 * OutboundStream.QUIET_BEATS);
    call.becomeReady();
    // Then
    assertThat(sent()).isEmpty();
    beat(out, 1);
    assertThat(sent()).containsExactly(HEARTBEAT);
  }

  private static void beat(OutboundStream<Int64Value> out, int times) {
    for (int i = 0; i < times; i++) {
      out.beat(() -> number(HEARTBEAT));
    }
  }

  @Test
  void firstMessageGoesBeforeWhatWasKeptBack() {
    // Given
    OutboundStream<Int64Value> out = new OutboundStream<>(call, 10, PLENTY);
    out.cork();
    out.send(() -> number(2));
    assertThat(call.sent).isEmpty();
    // When
    out.startWith(number(1));
    // Then
    assertThat(sent()).containsExactly(1L, 2L);
  }

  @Test
  void ofEventsAboutTheSameOnlyTheNewestWaitsAndItKeepsItsOrder() {
    // Given
    call.ready = false;
    OutboundStream<Int64Value> out = new OutboundStream<>(call, 10, PLENTY);
    // When
    for (int i = 0; i < 1_000; i++) {
      long value = i;
      out.send(position("a"), () -> number(value));
    }
    out.send(position("b"), () -> number(1_000));
    out.send(() -> number(1_001));
    out.send(position("a"), () -> number(1_002));
    call.becomeReady();
    out.send(position("a"), () -> number(1_003));
    // Then
    assertThat(sent()).containsExactly(1_000L, 1_001L, 1_002L, 1_003L);
    assertThat(call.ends).isEmpty();
  }

  @Test
  void newerEventReplacesTheOneThatWaitsWhereTheQueueIsMoreThanHalfFull() {
    // Given
    call.ready = false;
    OutboundStream<Int64Value> out = new OutboundStream<>(call, 10, PLENTY);
    out.send(position("a"), () -> number(1));
    for (int i = 0; i < 6; i++) {
      out.send(() -> number(2));
    }
    // When
    out.send(position("a"), () -> number(3));
    out.send(position("b"), () -> number(4));
    call.becomeReady();
    // Then
    assertThat(sent()).hasSize(7).doesNotContain(1L).endsWith(3L);
    assertThat(call.ends).isEmpty();
  }

  @Test
  void largerEventDoesNotReplaceTheOneThatWaitsWhereTheQueueIsMoreThanHalfFull() {
    // Given
    call.ready = false;
    OutboundStream<Int64Value> out = new OutboundStream<>(call, 10, PLENTY);
    out.send(position("a"), () -> number(1));
    for (int i = 0; i < 6; i++) {
      out.send(() -> number(2));
    }
    // When
    out.send(position("a"), () -> number(Long.MAX_VALUE));
    call.becomeReady();
    // Then
    assertThat(sent()).hasSize(7).startsWith(1L).doesNotContain(Long.MAX_VALUE);
  }

  @Test
  void eventsThatOthersCauseNeverEndTheStream() {
    // Given
    call.ready = false;
    OutboundStream<Int64Value> out = new OutboundStream<>(call, 10, PLENTY);
    // When
    for (int i = 0; i < 100; i++) {
      out.send(position("request-" + i), () -> number(1));
    }
    out.send(() -> number(2));
    call.becomeReady();
    // Then
    assertThat(sent()).hasSize(7).endsWith(2L);
    assertThat(call.ends).isEmpty();
  }
}
