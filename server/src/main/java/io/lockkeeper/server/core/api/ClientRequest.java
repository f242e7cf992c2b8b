package io.lockkeeper.server.core.api;

/**
 * A client's request with who makes it. An event that comes without is {@linkplain Caller#ANYBODY
 * anybody's}.
 *
 * @param by who makes it
 * @param request what he wants
 */
public record ClientRequest(Caller by, ClientEvent request) implements Event {
  @Override
  public void applyTo(EventHandler handler) {
    handler.onClientRequest(this);
  }
}
