package io.lockkeeper.client;

import io.lockkeeper.client.internal.Loop;

/**
 * What all parts of one client share.
 *
 * @param settings how the client was built
 * @param loop where its state lives
 * @param callbacks where the user's code runs
 * @param backoff how long to wait before trying again
 */
record Surroundings(Settings settings, Loop loop, Callbacks callbacks, Backoff backoff) {}
