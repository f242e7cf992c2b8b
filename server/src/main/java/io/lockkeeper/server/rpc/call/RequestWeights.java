package io.lockkeeper.server.rpc.call;

import io.lockkeeper.server.rpc.wire.Fields;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.WatchRequest;
import java.util.Map;

/**
 * As how many requests one counts, by the work that it makes: about as many writes to ZooKeeper, or
 * as many locks that are looked at.
 */
public final class RequestWeights {

  /** A lease is opened: its record is written and deleted, and it has timers and a secret. */
  public static final int OPEN_LEASE = 10;

  private static final int SNAPSHOT = 100;
  private static final int BYTES = 1024;
  private static final int LISTED = 10;
  private static final int QUEUED = 100;

  private RequestWeights() {}

  /**
   * Returns that of a request for locks: each is an entry, written with all metadata and deleted.
   */
  public static int of(AcquireRequest request) {
    return Math.max(1, request.getLocksCount()) * (1 + described(request.getMetadataMap()));
  }

  /** Returns whether a request says anew what is held already, under a lease. */
  public static boolean keeps(AcquireRequest request) {
    return request.getHeldTokensCount() > 0;
  }

  /** Returns that of a watch: without names, all that is in use under its prefix is told. */
  public static int of(WatchRequest request) {
    return request.getNamesCount() == 0 ? SNAPSHOT : request.getNamesCount();
  }

  /** Returns that of a list of at most so many. */
  public static int ofList(int size) {
    return 1 + size / LISTED;
  }

  /** Returns that of a lock with at most so many of its queue. */
  public static int ofQueue(int size) {
    return 1 + size / QUEUED;
  }

  /** Returns that of metadata that is written to an entry. */
  public static int described(Map<String, String> metadata) {
    return 1 + Fields.metadataBytes(metadata) / BYTES;
  }

  /** Returns that of a request of a session; what is in a batch counts by itself. */
  public static int of(SessionRequest request) {
    return switch (request.getRequestCase()) {
      case ACQUIRE -> keeps(request.getAcquire()) ? 1 : of(request.getAcquire());
      case WATCH -> of(request.getWatch());
      case UPDATE_METADATA -> described(request.getUpdateMetadata().getMetadataMap());
      default -> 1;
    };
  }

  /** Returns whether a request of a session asks for something, and does not keep or give back. */
  public static boolean wants(SessionRequest request) {
    return switch (request.getRequestCase()) {
      case ACQUIRE -> !keeps(request.getAcquire());
      case UPDATE_METADATA, POSITION, WATCH -> true;
      default -> false;
    };
  }
}
