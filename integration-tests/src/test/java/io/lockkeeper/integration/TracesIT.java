package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Metadata;
import io.grpc.stub.MetadataUtils;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.ServerProcess;
import io.lockkeeper.integration.harness.SpanReceiver;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.opentelemetry.proto.trace.v1.Span;
import java.time.Duration;
import java.util.HexFormat;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a collector of traces hears of acquisitions. */
final class TracesIT {

  private static final String HOLDERS_TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String WAITERS_TRACE = "1bf7651916cd43dd8448eb211c80319d";
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final SpanReceiver receiver = SpanReceiver.start();
  private final Rig rig = Rig.start("--traces", receiver.url());

  @AfterEach
  void stop() {
    rig.close();
    receiver.close();
  }

  /** Returns the channel of a client in whose span {@code b7ad6b7169203331} calls are made. */
  private static Channel traced(Channel channel, String trace) {
    Metadata headers = new Metadata();
    headers.put(
        Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER),
        "00-" + trace + "-b7ad6b7169203331-01");
    return ClientInterceptors.intercept(
        channel, MetadataUtils.newAttachHeadersInterceptor(headers));
  }

  private Span awaitSpan(String trace) {
    Awaitility.await("the span of " + trace)
        .atMost(PATIENCE)
        .until(() -> receiver.spans().stream().anyMatch(span -> isOf(trace, span)));
    return receiver.spans().stream().filter(span -> isOf(trace, span)).findFirst().orElseThrow();
  }

  private static boolean isOf(String trace, Span span) {
    return hex(span.getTraceId()).equals(trace);
  }

  private static String hex(ByteString bytes) {
    return HexFormat.of().formatHex(bytes.toByteArray());
  }

  private void contend(Channel holders, Channel waiters, String lock) {
    Asking holder = Asking.forLock(holders, lock);
    holder.awaitGrant();
    Asking waiter = Asking.forLock(waiters, lock);
    waiter.await(EventCase.QUEUED);
    holder.hangUp();
    waiter.awaitGrant();
    waiter.hangUp();
  }

  private void assertThatTheWaiterIsLinkedToTheHolder() {
    Span held = awaitSpan(HOLDERS_TRACE);
    Span waited = awaitSpan(WAITERS_TRACE);
    assertThat(hex(held.getParentSpanId())).isEqualTo("b7ad6b7169203331");
    assertThat(held.getEventsList()).extracting(Span.Event::getName).containsExactly("granted");
    assertThat(waited.getEventsList())
        .extracting(Span.Event::getName)
        .containsExactly("queued", "granted");
    assertThat(waited.getLinksList())
        .singleElement()
        .satisfies(link -> assertThat(link.getSpanId()).isEqualTo(held.getSpanId()));
  }

  @Test
  void twoWhoContendAreTwoSpansTheWaitersLinkedToTheHolders() {
    // When
    contend(traced(rig.connect(), HOLDERS_TRACE), traced(rig.connect(), WAITERS_TRACE), "traced/1");

    // Then
    assertThatTheWaiterIsLinkedToTheHolder();
  }

  @Test
  void waiterOfAnotherCoordinatorIsLinkedToTheHolder() {
    // Given
    try (ServerProcess other =
        ServerProcess.start(rig.zookeeper().connectString(), "--traces", receiver.url())) {
      // When
      contend(
          traced(rig.connect(), HOLDERS_TRACE), traced(other.connect(), WAITERS_TRACE), "traced/2");

      // Then
      assertThatTheWaiterIsLinkedToTheHolder();
    }
  }

  @Test
  void requestThatIsForwardedKeepsItsTrace() {
    // Given
    try (ServerProcess other =
        ServerProcess.start(rig.zookeeper().connectString(), "--traces", receiver.url())) {
      String lease =
          LeaseServiceGrpc.newBlockingStub(rig.connect())
              .openLease(OpenLeaseRequest.getDefaultInstance())
              .getLeaseId();

      // When
      Asking asking =
          Asking.with(
              traced(other.connect(), HOLDERS_TRACE), Asking.under(lease, "r1", "traced/3"));
      asking.awaitGrant();
      asking.release();

      // Then
      assertThat(hex(awaitSpan(HOLDERS_TRACE).getParentSpanId())).isEqualTo("b7ad6b7169203331");
    }
  }
}
