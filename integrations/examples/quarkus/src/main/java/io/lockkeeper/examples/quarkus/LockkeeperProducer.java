package io.lockkeeper.examples.quarkus;

import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.LockkeeperClientBuilder;
import io.lockkeeper.client.MicrometerObserver;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.inject.Disposes;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;

/** Makes the one client of the application, and closes it when the application ends. */
@Singleton
final class LockkeeperProducer {

  /** A bean of its own, so that a test can have its client from another builder. */
  @Produces
  @Dependent
  LockkeeperClientBuilder builder(LockkeeperSettings settings) {
    LockkeeperClientBuilder builder = LockkeeperClient.builder(settings.servers());
    settings.ttl().ifPresent(builder::ttl);
    settings.holder().ifPresent(builder::holder);
    return builder;
  }

  /** The class is final, so it has no proxy: {@code @Singleton}, not {@code @ApplicationScoped}. */
  @Produces
  @Singleton
  LockkeeperClient client(LockkeeperClientBuilder builder, MeterRegistry meters) {
    return builder.observer(MicrometerObserver.of(meters)).build();
  }

  void close(@Disposes LockkeeperClient client) {
    client.close();
  }
}
