package io.lockkeeper.client;

import io.lockkeeper.client.internal.telemetry.Observer;

/**
 * Measures or traces what becomes of a client's requests: see {@link
 * LockkeeperClientBuilder#observer}. Made by {@link MicrometerObserver} and {@link
 * OpenTelemetryObserver}, which need these libraries; nothing else does.
 */
public final class ClientObserver {

  private final Observer observer;

  ClientObserver(Observer observer) {
    this.observer = observer;
  }

  Observer observer() {
    return observer;
  }
}
