package io.lockkeeper.server.rpc.call;

import java.time.Duration;

/**
 * What one client may cost.
 *
 * @param maxMessageBytes the largest request
 * @param maxMetadataBytes the largest set of request headers: names, values and 32 bytes for each
 * @param maxCallsPerConnection how many calls one connection may have open at a time: a session
 *     stream is one for all its locks, an Acquire stream one for each
 * @param streamMessages how many messages may wait for a slow reader of an Acquire or Watch stream
 * @param sessionMessages the same for a session stream, which may carry the state of some thousands
 *     of acquisitions
 * @param streamBytes how many bytes may wait for a slow reader of any stream
 * @param sessionUnanswered how many requests of one session stream may be unanswered before it is
 *     not read from
 * @param sessionWatches how many watches one session stream may have
 * @param openTimeout how long a call may take to send its first request
 * @param healthInterval how often the coordinator is asked whether it serves
 * @param resumeAfter how long clients are asked to wait before they resume when the endpoint stops
 * @param defaultTtl how long a lease lives whose opener does not say
 * @param server what all clients together may cost
 */
public record GrpcLimits(
    int maxMessageBytes,
    int maxMetadataBytes,
    int maxCallsPerConnection,
    int streamMessages,
    int sessionMessages,
    int streamBytes,
    int sessionUnanswered,
    int sessionWatches,
    Duration openTimeout,
    Duration healthInterval,
    Duration resumeAfter,
    Duration defaultTtl,
    ServerLimits server) {

  /** The limits of production. */
  public static final GrpcLimits DEFAULTS =
      new GrpcLimits(
          64 * 1024,
          8 * 1024,
          4_096,
          256,
          8_192,
          2 * 1024 * 1024,
          1_024,
          64,
          Duration.ofSeconds(10),
          Duration.ofMillis(200),
          Duration.ofMillis(200),
          Duration.ofSeconds(15),
          ServerLimits.ofThisProcess());

  /**
   * Returns up to which size the transport reads headers, so that a call with too many of them is
   * rejected by itself. Beyond that it rejects the call without a message; and it ends the
   * connection, with all other calls on it, where the headers are a quarter larger than this as
   * they are sent: those are not decoded, and without that no later ones can be.
   */
  public int maxHeaderListBytes() {
    return 3 * maxMetadataBytes;
  }

  /** Returns the same with another default time to live. */
  public GrpcLimits withDefaultTtl(Duration ttl) {
    return new GrpcLimits(
        maxMessageBytes,
        maxMetadataBytes,
        maxCallsPerConnection,
        streamMessages,
        sessionMessages,
        streamBytes,
        sessionUnanswered,
        sessionWatches,
        openTimeout,
        healthInterval,
        resumeAfter,
        ttl,
        server);
  }
}
