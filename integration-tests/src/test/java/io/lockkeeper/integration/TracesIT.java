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
import java.util.HexFormat;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** What a collector of traces hears of acquisitions. */
final class TracesIT {

  @AutoClose private static final SpanReceiver receiver = SpanReceiver.start();
  @AutoClose private static final ServerProcess server = start();
  @AutoClose private static final ServerProcess other = start();

  private final String holdersTrace = newTrace();
  private final String waitersTrace = newTrace();

  private static ServerProcess start() {
    return Rig.server("/traced", "--traces=" + receiver.url());
  }

  private static String newTrace() {
    return UUID.randomUUID().toString().replace("-", "");
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
    Span held = awaitSpan(holdersTrace);
    Span waited = awaitSpan(waitersTrace);
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
    contend(
        traced(server.connect(), holdersTrace), traced(server.connect(), waitersTrace), "traced/1");

    // Then
    assertThatTheWaiterIsLinkedToTheHolder();
  }

  @Test
  void waiterOfAnotherCoordinatorIsLinkedToTheHolder() {
    // When
    contend(
        traced(server.connect(), holdersTrace), traced(other.connect(), waitersTrace), "traced/2");

    // Then
    assertThatTheWaiterIsLinkedToTheHolder();
  }

  @Test
  void requestThatIsForwardedKeepsItsTrace() {
    // Given
    String lease =
        LeaseServiceGrpc.newBlockingStub(server.connect())
            .openLease(OpenLeaseRequest.getDefaultInstance())
            .getLeaseId();

    // When
    Asking asking =
        Asking.with(traced(other.connect(), holdersTrace), Asking.under(lease, "r1", "traced/3"));
    asking.awaitGrant();
    asking.release();

    // Then
    assertThat(hex(awaitSpan(holdersTrace).getParentSpanId())).isEqualTo("b7ad6b7169203331");
  }
}
