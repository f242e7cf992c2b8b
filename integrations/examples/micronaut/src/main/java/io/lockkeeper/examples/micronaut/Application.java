package io.lockkeeper.examples.micronaut;

import io.micronaut.runtime.Micronaut;

/** Starts the shop. */
public final class Application {

  private Application() {}

  /** Runs until the process is told to end. */
  public static void main(String[] args) {
    Micronaut.run(Application.class, args);
  }
}
