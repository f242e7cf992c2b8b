package io.lockkeeper.client;

import io.lockkeeper.client.internal.telemetry.Meters;
import io.micrometer.core.instrument.MeterRegistry;

/** Counts and times with Micrometer, which must be on the class path. */
public final class MicrometerObserver {

  private MicrometerObserver() {}

  /**
   * Returns what counts and times in a registry: the timer {@code lockkeeper.client.acquire}
   * (waits; tag {@code outcome}), the timer {@code lockkeeper.client.held} (holds; tag {@code end})
   * and the counter {@code lockkeeper.client.lost} (tag {@code reason}). The README of the client
   * has the values of the tags. Names of locks are no tags.
   */
  public static ClientObserver of(MeterRegistry registry) {
    return new ClientObserver(new Meters(registry));
  }
}
