package io.lockkeeper.server.core.api;

/**
 * Something that happened: the only input of the core. Commands, ZooKeeper's events and time all
 * come in as events.
 */
public sealed interface Event
    permits ClientEvent, ClientRequest, LifecycleEvent, StoreEvent, TimeEvent {

  /** Hands the event to its handler; an event without one does not compile. */
  void applyTo(EventHandler handler);
}
