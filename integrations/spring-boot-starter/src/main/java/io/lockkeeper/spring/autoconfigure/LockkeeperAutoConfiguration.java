package io.lockkeeper.spring.autoconfigure;

import io.grpc.ChannelCredentials;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.LockkeeperClientBuilder;
import io.lockkeeper.client.MicrometerObserver;
import io.lockkeeper.client.OpenTelemetryObserver;
import io.lockkeeper.spring.LockedBeanPostProcessor;
import io.micrometer.core.instrument.MeterRegistry;
import io.opentelemetry.api.OpenTelemetry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/**
 * Makes the application's client, unless it has a bean of its own, and puts locks around {@link
 * io.lockkeeper.spring.Locked} methods. The client connects when it is first used, and is closed
 * with the application: its locks are released then.
 */
@AutoConfiguration
@EnableConfigurationProperties(LockkeeperProperties.class)
public final class LockkeeperAutoConfiguration {

  /** Makes the client. */
  @Bean
  @ConditionalOnMissingBean
  LockkeeperClient lockkeeperClient(
      LockkeeperProperties properties,
      Environment environment,
      ObjectProvider<SslBundles> bundles,
      ObjectProvider<LockkeeperClientBuilderCustomizer> customizers) {
    LockkeeperClientBuilder builder =
        LockkeeperClient.builder(String.join(",", properties.servers()));
    Optional.ofNullable(properties.holder())
        .or(() -> Optional.ofNullable(environment.getProperty("spring.application.name")))
        .ifPresent(builder::holder);
    Optional.ofNullable(properties.ttl()).ifPresent(builder::ttl);
    Optional.ofNullable(properties.requestTimeout()).ifPresent(builder::requestTimeout);
    Optional.ofNullable(properties.expiryWarning()).ifPresent(builder::expiryWarning);
    Optional.ofNullable(properties.token()).ifPresent(token -> builder.bearerToken(() -> token));
    Optional.ofNullable(properties.tokenFile())
        .ifPresent(file -> builder.bearerToken(() -> read(file)));
    encrypt(builder, properties.ssl(), bundles);
    customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
    return builder.build();
  }

  private static String read(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException e) {
      throw new UncheckedIOException("lockkeeper.token-file cannot be read: " + file, e);
    }
  }

  private static void encrypt(
      LockkeeperClientBuilder builder,
      LockkeeperProperties.Ssl ssl,
      ObjectProvider<SslBundles> bundles) {
    if (!ssl.isEnabled()) {
      return;
    }
    String bundle = ssl.bundle();
    if (bundle == null) {
      builder.tls();
      return;
    }
    SslBundles known = bundles.getObject();
    ChannelCredentials unused =
        BundleCredentials.of(known, bundle); // One that cannot be used fails the start.
    builder.credentials(() -> BundleCredentials.of(known, bundle));
  }

  /** Puts locks around methods. */
  @Bean
  @ConditionalOnMissingBean
  static LockedBeanPostProcessor lockedBeanPostProcessor() {
    return new LockedBeanPostProcessor();
  }

  /** Measures with the application's Micrometer. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(MeterRegistry.class)
  static class Metrics {

    @Bean
    LockkeeperClientBuilderCustomizer lockkeeperMetrics(ObjectProvider<MeterRegistry> registry) {
      return builder ->
          registry.ifUnique(unique -> builder.observer(MicrometerObserver.of(unique)));
    }
  }

  /** Traces with the application's OpenTelemetry. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(OpenTelemetry.class)
  static class Traces {

    @Bean
    LockkeeperClientBuilderCustomizer lockkeeperTraces(ObjectProvider<OpenTelemetry> telemetry) {
      return builder ->
          telemetry.ifUnique(unique -> builder.observer(OpenTelemetryObserver.of(unique)));
    }
  }
}
