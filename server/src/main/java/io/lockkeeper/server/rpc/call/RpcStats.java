package io.lockkeeper.server.rpc.call;

import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Counts what the endpoint does beyond answering. */
public final class RpcStats {

  public final LongAdder forwarded = new LongAdder();
  public final LongAdder suspicions = new LongAdder();
  public final LongAdder sentAway = new LongAdder();

  /** Returns the counts so far, by name. */
  public Map<String, Long> snapshot() {
    return Map.of(
        "forwarded.requests", forwarded.sum(),
        "peer.suspicions", suspicions.sum(),
        "sessions.sent.away", sentAway.sum());
  }
}
