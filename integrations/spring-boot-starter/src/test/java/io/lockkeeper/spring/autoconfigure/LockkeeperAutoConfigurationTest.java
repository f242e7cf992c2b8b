package io.lockkeeper.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.spring.CurrentLock;
import io.lockkeeper.spring.Locked;
import io.lockkeeper.spring.integration.LockkeeperLockRegistry;
import io.lockkeeper.testing.InMemoryLockkeeper;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.time.Duration;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.ssl.DefaultSslBundleRegistry;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.support.locks.LockRegistry;

/** What an application gets that has the starter on its class path. */
class LockkeeperAutoConfigurationTest {

  private final InMemoryLockkeeper server = InMemoryLockkeeper.start();
  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  LockkeeperAutoConfiguration.class,
                  LockkeeperHealthAutoConfiguration.class,
                  LockkeeperIntegrationAutoConfiguration.class));

  @AfterEach
  void stop() {
    server.close();
  }

  /** Has a method that no proxy can intercept. */
  static class Broken {
    @Locked("a")
    public final void fixed() {}
  }

  /** As the application would have it, but for the way to the server. */
  private ApplicationContextRunner connected() {
    return application.withBean(
        LockkeeperClientBuilderCustomizer.class,
        () -> builder -> builder.channels(address -> server.connect()));
  }

  /** A bean of the application. */
  static class Orders {
    @Locked("orders/#{#id}")
    public long ship(String id) {
      return CurrentLock.fencingToken();
    }
  }

  @Test
  void clientIsMadeOfThePropertiesAndClosedWithTheApplication() {
    connected()
        .withPropertyValues("lockkeeper.ttl=1h", "spring.application.name=shop")
        .run(
            context -> {
              LockkeeperClient client = context.getBean(LockkeeperClient.class);
              LockHandle lock = client.lock("orders/1");
              assertThat(client.getLock("orders/1").holders())
                  .singleElement()
                  .extracting("holder")
                  .isEqualTo("shop");
              assertThat(lock.remaining()).isGreaterThan(Duration.ofSeconds(15));
            });
    assertThat(server.holderToken("orders/1")).isEmpty();
  }

  @Test
  void clientOfTheApplicationsOwnIsLeftAlone() {
    LockkeeperClient own = server.clientBuilder().build();
    application
        .withBean("own", LockkeeperClient.class, () -> own)
        .run(context -> assertThat(context).getBean(LockkeeperClient.class).isSameAs(own));
  }

  @Test
  void methodsOfBeansAreLocked() {
    connected()
        .withBean(Orders.class)
        .run(context -> assertThat(context.getBean(Orders.class).ship("42")).isPositive());
  }

  @Test
  void waitsAndHoldsAreMeasuredInTheApplicationsRegistry() {
    connected()
        .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
        .withBean(Orders.class)
        .run(
            context -> {
              context.getBean(Orders.class).ship("42");
              MeterRegistry registry = context.getBean(MeterRegistry.class);
              assertThat(registry.get("lockkeeper.client.acquire").timer().count()).isEqualTo(1);
            });
  }

  @Test
  void waitsAreTracedWithTheApplicationsOpenTelemetry() {
    InMemorySpanExporter spans = InMemorySpanExporter.create();
    connected()
        .withBean(OpenTelemetry.class, () -> tracingTo(spans))
        .withBean(Orders.class)
        .run(
            context -> {
              context.getBean(Orders.class).ship("42");
              Awaitility.await()
                  .until(
                      () ->
                          spans.getFinishedSpanItems().stream()
                              .anyMatch(span -> span.toString().contains("orders/42")));
            });
  }

  private static OpenTelemetry tracingTo(InMemorySpanExporter spans) {
    return OpenTelemetrySdk.builder()
        .setTracerProvider(
            SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(spans)).build())
        .build();
  }

  @Test
  void healthIsUpWhileACoordinatorAnswersAndDownWhileNoneDoes() {
    connected()
        .withPropertyValues("lockkeeper.health.timeout=20s", "lockkeeper.request-timeout=3s")
        .run(
            context -> {
              var health = context.getBean(LockkeeperHealthIndicator.class);
              assertThat(health.health().getStatus()).isEqualTo(Status.UP);
              server.refuseCalls(true);
              assertThat(health.health().getStatus()).isEqualTo(Status.DOWN);
              assertThat(health.health().getDetails()).containsKey("error");
              server.refuseCalls(false);
              assertThat(health.health().getStatus()).isEqualTo(Status.UP);
            });
  }

  @Test
  void healthIsDownWhenTheAnswerTakesTooLong() {
    connected()
        .withPropertyValues("lockkeeper.health.timeout=1ms")
        .run(
            context -> {
              server.freeze();
              var health = context.getBean(LockkeeperHealthIndicator.class).health();
              server.thaw();
              assertThat(health.getStatus()).isEqualTo(Status.DOWN);
              assertThat(health.getDetails()).containsEntry("error", "no answer within PT0.001S");
            });
  }

  @Test
  void healthIsDownWhenItsThreadIsInterruptedAndTheInterruptIsKept() {
    connected()
        .run(
            context -> {
              server.freeze(); // An answer that is there already would be taken.
              Thread.currentThread().interrupt();
              var health = context.getBean(LockkeeperHealthIndicator.class).health();
              boolean kept = Thread.interrupted();
              server.thaw();
              assertThat(health.getStatus()).isEqualTo(Status.DOWN);
              assertThat(kept).isTrue();
            });
  }

  @Test
  void healthIndicatorCanBeSwitchedOff() {
    connected()
        .withPropertyValues("management.health.lockkeeper.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean(LockkeeperHealthIndicator.class));
  }

  /** Read as an application reads them: without loading a class whose annotations are missing. */
  @Configuration
  @ImportAutoConfiguration({
    LockkeeperAutoConfiguration.class,
    LockkeeperHealthAutoConfiguration.class,
    LockkeeperIntegrationAutoConfiguration.class
  })
  static class Imported {}

  @Test
  void applicationWithoutTheOptionalLibrariesStarts() {
    new ApplicationContextRunner()
        .withUserConfiguration(Imported.class)
        .withBean(
            LockkeeperClientBuilderCustomizer.class,
            () -> builder -> builder.channels(address -> server.connect()))
        .withClassLoader(
            new FilteredClassLoader(
                "org.springframework.boot.health",
                "org.springframework.integration",
                "io.micrometer",
                "io.opentelemetry"))
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              try (LockHandle lock = context.getBean(LockkeeperClient.class).lock("orders/1")) {
                assertThat(lock.isValid()).isTrue();
              }
            });
  }

  @Test
  void lockRegistryOfTheApplicationsOwnIsLeftAlone() {
    connected().run(context -> assertThat(context).hasSingleBean(LockkeeperLockRegistry.class));
    LockRegistry<Lock> own = key -> new ReentrantLock();
    connected()
        .withBean("own", LockRegistry.class, () -> own)
        .run(context -> assertThat(context).doesNotHaveBean(LockkeeperLockRegistry.class));
  }

  @Test
  void settingsThatDoNotGoTogetherFailTheStart() {
    application
        .withPropertyValues("lockkeeper.token=x", "lockkeeper.token-file=secrets/token")
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining("lockkeeper.token and lockkeeper.token-file"));
    application
        .withPropertyValues("lockkeeper.ttl=1s")
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining("a lease lives 2 s to 1 hour"));
    application
        .withPropertyValues("lockkeeper.ssl.bundle=nosuch")
        .withBean(SslBundles.class, DefaultSslBundleRegistry::new)
        .run(
            context -> assertThat(context).getFailure().rootCause().hasMessageContaining("nosuch"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          lock=a//b    | lockkeeper.health.lock: no segment of a lock's name may be empty
          timeout=0s   | lockkeeper.health.timeout is above zero, and 1 minute at most, not PT0S
          timeout=-1s  | lockkeeper.health.timeout is above zero, and 1 minute at most, not PT-1S
          timeout=61s  | lockkeeper.health.timeout is above zero, and 1 minute at most, not PT1M1S
          """)
  void healthSettingsOutOfRangeFailTheStart(String setting, String message) {
    application
        .withPropertyValues("lockkeeper.health." + setting)
        .run(context -> assertThat(context).getFailure().hasStackTraceContaining(message));
  }

  @Test
  void annotationThatCannotWorkFailsTheStart() {
    connected()
        .withBean(Broken.class, Broken::new)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining("private, final or static"));
  }
}
