package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.client.internal.telemetry.Observer;
import io.lockkeeper.client.internal.telemetry.Outcome;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** What metrics and traces show of waits, holds and losses, and that nobody needs them. */
class TelemetryTest {

  private static final Duration LONG = Duration.ofMinutes(1);

  private final InMemorySpanExporter spans = InMemorySpanExporter.create();

  @AutoClose
  private final OpenTelemetrySdk telemetry =
      OpenTelemetrySdk.builder()
          .setTracerProvider(
              SdkTracerProvider.builder()
                  .addSpanProcessor(SimpleSpanProcessor.create(spans))
                  .build())
          .build();

  @AutoClose private final GrantingServer server = new GrantingServer();

  TelemetryTest() throws IOException {}

  /** One lock is released, one is lost, one is not granted. */
  private static void useLocks(LockkeeperClient client) throws InterruptedException {
    client.lock("orders/42").close();
    LockHandle lost = client.lock("lost/1");
    await().until(() -> !lost.isValid());
    assertThat(client.tryLock("taken/1")).isEmpty();
  }

  @Test
  void waitsHoldsAndLossesAreMeasuredWithoutNamesOfLocks() throws InterruptedException {
    // Given
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    // When
    try (LockkeeperClient client =
        server.clientBuilder().observer(MicrometerObserver.of(meters)).build()) {
      useLocks(client);
    }
    // Then
    assertThat(meters.get("lockkeeper.client.acquire").tag("outcome", "acquired").timer().count())
        .isEqualTo(2);
    assertThat(meters.get("lockkeeper.client.acquire").tag("outcome", "timed_out").timer().count())
        .isEqualTo(1);
    assertThat(meters.get("lockkeeper.client.held").tag("end", "released").timer().count())
        .isEqualTo(1);
    assertThat(meters.get("lockkeeper.client.held").tag("end", "lost").timer().count())
        .isEqualTo(1);
    assertThat(meters.get("lockkeeper.client.lost").tag("reason", "forced").counter().count())
        .isEqualTo(1);
    assertThat(meters.getMeters())
        .extracting(Meter::getId)
        .allSatisfy(id -> assertThat(id.toString()).doesNotContain("/"));
  }

  @Test
  void requestTakesTheTraceContextOfItsWaitAlong() throws InterruptedException {
    // When
    try (LockkeeperClient client =
        server.clientBuilder().observer(OpenTelemetryObserver.of(telemetry)).build()) {
      useLocks(client);
    }
    // Then
    Set<String> sent =
        server.asked().stream()
            .map(request -> request.getMetadataOrDefault("traceparent", ""))
            .collect(Collectors.toSet());
    assertThat(spans.getFinishedSpanItems())
        .filteredOn(span -> span.getName().equals("lockkeeper.acquire"))
        .extracting(
            span ->
                "00-"
                    + span.getTraceId()
                    + "-"
                    + span.getSpanId()
                    + "-"
                    + span.getSpanContext().getTraceFlags().asHex())
        .containsExactlyInAnyOrderElementsOf(sent);
  }

  @Test
  void waitsAndHoldsAreSpansOfTheCaller() throws InterruptedException {
    // Given
    Span caller = telemetry.getTracer("test").spanBuilder("caller").startSpan();
    // When
    try (LockkeeperClient client =
            server.clientBuilder().observer(OpenTelemetryObserver.of(telemetry)).build();
        Scope scope = caller.makeCurrent()) {
      useLocks(client);
    }
    // Then
    List<SpanData> finished = spans.getFinishedSpanItems();
    assertThat(finished)
        .extracting(SpanData::getName)
        .containsExactlyInAnyOrder(
            "lockkeeper.acquire",
            "lockkeeper.hold",
            "lockkeeper.acquire",
            "lockkeeper.hold",
            "lockkeeper.acquire");
    assertThat(finished)
        .allMatch(span -> span.getParentSpanId().equals(caller.getSpanContext().getSpanId()));
    assertThat(finished)
        .filteredOn(span -> "lost/1".equals(attribute(span, "lockkeeper.lock")))
        .filteredOn(span -> span.getName().equals("lockkeeper.hold"))
        .singleElement()
        .satisfies(
            span -> {
              assertThat(span.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
              assertThat(attribute(span, "lockkeeper.loss_reason")).isEqualTo("forced");
            });
    assertThat(finished)
        .filteredOn(span -> "taken/1".equals(attribute(span, "lockkeeper.lock")))
        .singleElement()
        .satisfies(
            span -> {
              assertThat(span.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
              assertThat(attribute(span, "lockkeeper.outcome")).isEqualTo("timed_out");
            });
  }

  private static String attribute(SpanData span, String key) {
    return String.valueOf(span.getAttributes().get(AttributeKey.stringKey(key)));
  }

  @Test
  void requestOfAClientThatIsClosedHasAnEndAsWell() {
    // Given
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    LockkeeperClient client =
        server.clientBuilder().observer(MicrometerObserver.of(meters)).build();
    client.close();
    // When
    Throwable thrown = catchThrowable(() -> client.lock("orders/42"));
    // Then
    assertThat(thrown).isInstanceOf(IllegalStateException.class).hasMessageContaining("orders/42");
    assertThat(meters.get("lockkeeper.client.acquire").tag("outcome", "failed").timer().count())
        .isEqualTo(1);
  }

  @Test
  void libraryOfAnotherVersionStopsNoLockAndNoRelease() throws InterruptedException {
    // Given
    Observer.ObservedRequest broken =
        new Observer.ObservedRequest() {
          @Override
          public void onGranted(LockHandle handle) {
            throw new NoSuchMethodError("onGranted");
          }

          @Override
          public void onNotGranted(Outcome outcome, Throwable why) {
            throw new NoSuchMethodError("onNotGranted");
          }

          @Override
          public void onEnded(Optional<LossReason> lost) {
            throw new NoSuchMethodError("onEnded");
          }
        };
    try (LockkeeperClient client =
        server.clientBuilder().observer(new ClientObserver(request -> broken)).build()) {
      // When
      CompletableFuture<ReleaseResult> released = client.lock("orders/42").releaseForResult();
      // Then
      assertThat(released)
          .succeedsWithin(LONG)
          .isEqualTo(new ReleaseResult(ReleaseResult.Outcome.RELEASED, 0));
    }
  }

  @Test
  void clientWorksWithoutTheLibrariesOnTheClassPath() throws Exception {
    // Given
    URL[] withoutThem =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry -> !entry.contains("micrometer") && !entry.contains("opentelemetry"))
            .map(TelemetryTest::url)
            .toArray(URL[]::new);
    // When
    Object token;
    try (URLClassLoader loader =
        new URLClassLoader(withoutThem, ClassLoader.getPlatformClassLoader())) {
      Class<?> user = loader.loadClass(WithoutTelemetry.class.getName());
      token = user.getMethod("lockAndUnlock").invoke(null);
    }
    // Then
    assertThat(token)
        .isEqualTo("no Micrometer, no OpenTelemetry, a builder that can be looked at, token 1");
  }

  private static URL url(String entry) {
    try {
      return Path.of(entry).toUri().toURL();
    } catch (MalformedURLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A user whose class path has neither library. */
  public static final class WithoutTelemetry {
    private WithoutTelemetry() {}

    /** Uses a lock, and says what it has found. */
    public static String lockAndUnlock() throws Exception {
      ClassLoader mine = WithoutTelemetry.class.getClassLoader();
      try (GrantingServer server = new GrantingServer();
          LockkeeperClient client = server.clientBuilder().build();
          LockHandle lock = client.lock("orders/42")) {
        return (isThere(mine, "io.micrometer.core.instrument.MeterRegistry") ? "" : "no ")
            + "Micrometer, "
            + (isThere(mine, "io.opentelemetry.api.OpenTelemetry") ? "" : "no ")
            + "OpenTelemetry, "
            + (LockkeeperClientBuilder.class.getMethods().length > 0 ? "a" : "no")
            + " builder that can be looked at, token "
            + lock.fencingToken();
      }
    }

    private static boolean isThere(ClassLoader loader, String type) {
      return loader.getResource(type.replace('.', '/') + ".class") != null;
    }
  }
}
