package io.lockkeeper.client;

import io.lockkeeper.client.internal.telemetry.Meters;
import io.micrometer.core.instrument.MeterRegistry;

/** Counts and times with Micrometer, which must be on the class path. */
public final class MicrometerObserver {

  private MicrometerObserver() {}

  /**
   * Returns what times waits and holds and counts losses in a registry, under names that begin with
   * {@code lockkeeper.client}: the README of the client lists them with their tags. Names of locks
   * are no tags.
   */
  public static ClientObserver of(MeterRegistry registry) {
    return new ClientObserver(new Meters(registry));
  }
}
