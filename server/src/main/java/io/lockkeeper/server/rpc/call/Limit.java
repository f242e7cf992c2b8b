package io.lockkeeper.server.rpc.call;

import java.util.Locale;

/** A limit of the whole server at which something is refused. */
public enum Limit {
  /** Connections in all. */
  CONNECTIONS,
  /** Connections from one address. */
  ADDRESS_CONNECTIONS,
  /** Open calls in all. */
  CALLS,
  /** Open calls from one address. */
  ADDRESS_CALLS,
  /** The time that a call may take to send its first message. */
  FIRST_MESSAGE,
  /** Bytes of requests that have not arrived whole. */
  PARTIAL_REQUESTS,
  /** Bytes that wait for slow readers, of all streams together. */
  UNREAD_BYTES;

  /** Returns the limit's name in metrics: {@code address-calls}. */
  public String key() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
