package io.lockkeeper.client;

import io.lockkeeper.client.internal.CallerRuns;
import io.lockkeeper.client.internal.Loop;
import java.util.SplittableRandom;

/**
 * What all parts of one client share.
 *
 * @param settings how the client was built
 * @param loop the only thread of control of its state
 * @param callbacks where the user's code runs
 * @param backoff how long to wait before the next attempt
 * @param discovery where the servers are
 */
record ClientContext(
    Settings settings, Loop loop, Callbacks callbacks, Backoff backoff, Discovery discovery) {

  /** Starts the threads of a client that was built so. */
  static ClientContext start(Settings settings) {
    String thread = "lockkeeper-client";
    CallerRuns callerRuns = settings.callerRuns();
    Loop loop =
        settings
            .clock()
            .map(clock -> Loop.on(clock, thread, callerRuns))
            .orElseGet(() -> Loop.onSystemClock(thread, callerRuns));
    SplittableRandom random = new SplittableRandom();
    return new ClientContext(
        settings,
        loop,
        Callbacks.on(settings.callbacks()),
        new Backoff(random),
        new Discovery(settings.servers(), settings.resolver(), random.nextLong()));
  }
}
