package io.lockkeeper.client;

import io.lockkeeper.client.internal.Helpers;
import io.lockkeeper.client.internal.Loop;
import java.util.SplittableRandom;

/**
 * What all parts of one client share.
 *
 * @param settings how the client was built
 * @param loop where its state lives
 * @param callbacks where the user's code runs
 * @param backoff how long to wait before trying again
 * @param discovery where the servers are
 */
record Surroundings(
    Settings settings, Loop loop, Callbacks callbacks, Backoff backoff, Discovery discovery) {

  /** Starts what a client needs that is built so. */
  static Surroundings of(Settings settings) {
    String thread = "lockkeeper-client";
    Helpers helpers = settings.helpers();
    Loop loop =
        settings
            .clock()
            .map(clock -> Loop.on(clock, thread, helpers))
            .orElseGet(() -> Loop.onSystemClock(thread, helpers));
    SplittableRandom random = new SplittableRandom();
    return new Surroundings(
        settings,
        loop,
        Callbacks.on(settings.callbacks()),
        new Backoff(random),
        new Discovery(settings.servers(), settings.names(), random.nextLong()));
  }
}
