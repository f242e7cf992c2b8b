package io.lockkeeper.examples.micronaut;

import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.LockkeeperClientBuilder;
import io.lockkeeper.client.MicrometerObserver;
import io.micrometer.core.instrument.MeterRegistry;
import io.micronaut.context.annotation.Bean;
import io.micronaut.context.annotation.Factory;
import io.micronaut.context.annotation.Prototype;
import jakarta.inject.Singleton;

/** Makes the one client of the application, and closes it when the application ends. */
@Factory
final class LockkeeperFactory {

  /** A bean of its own, so that a test can have its client from another builder. */
  @Prototype
  LockkeeperClientBuilder builder(LockkeeperSettings settings) {
    LockkeeperClientBuilder builder = LockkeeperClient.builder(settings.servers());
    settings.ttl().ifPresent(builder::ttl);
    settings.holder().ifPresent(builder::holder);
    return builder;
  }

  /** Without {@code preDestroy}, Micronaut would not close it. */
  @Singleton
  @Bean(preDestroy = "close")
  LockkeeperClient client(LockkeeperClientBuilder builder, MeterRegistry meters) {
    return builder.observer(MicrometerObserver.of(meters)).build();
  }
}
