package io.lockkeeper.server.rpc;

import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Counts what the endpoint does beyond answering. */
final class RpcStats {

  final LongAdder forwarded = new LongAdder();
  final LongAdder suspicions = new LongAdder();
  final LongAdder sentAway = new LongAdder();

  /** Returns the counts so far, by name. */
  Map<String, Long> snapshot() {
    return Map.of(
        "forwarded.requests", forwarded.sum(),
        "peer.suspicions", suspicions.sum(),
        "sessions.sent.away", sentAway.sum());
  }
}
