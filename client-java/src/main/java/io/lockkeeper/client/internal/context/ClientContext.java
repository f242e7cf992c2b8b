package io.lockkeeper.client.internal.context;

import io.lockkeeper.client.internal.loop.Backoff;
import io.lockkeeper.client.internal.loop.Callbacks;
import io.lockkeeper.client.internal.loop.CallerRuns;
import io.lockkeeper.client.internal.loop.Loop;
import io.lockkeeper.client.internal.transport.Discovery;
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
public record ClientContext(
    Settings settings, Loop loop, Callbacks callbacks, Backoff backoff, Discovery discovery) {

  /** Starts the threads of a client that was built so. */
  public static ClientContext start(Settings settings) {
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
