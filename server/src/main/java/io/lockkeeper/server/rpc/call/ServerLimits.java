package io.lockkeeper.server.rpc.call;

import io.grpc.netty.shaded.io.netty.util.internal.PlatformDependent;

/**
 * What all clients together may cost, so that what they may take of the process's memory is bounded
 * before there is none left. One address may have half of each: behind a balancer or a gateway, all
 * clients may come from one.
 *
 * @param connections open connections, handshakes under way included
 * @param addressConnections the same from one address; of IPv6, from one /64
 * @param calls open calls
 * @param addressCalls the same from one address
 * @param partialBytes bytes of requests that have not arrived whole
 * @param unreadBytes bytes that wait for clients that read slowly
 */
public record ServerLimits(
    int connections,
    int addressConnections,
    int calls,
    int addressCalls,
    long partialBytes,
    long unreadBytes) {

  /**
   * What one connection may hold of what it has sent and nobody has read. More than the largest
   * request, so that a request never waits for room; at a round trip of 10 ms still 6 MB a second.
   */
  public static final int WINDOW_BYTES = 64 * 1024;

  /** The largest buffer that is read into: a small piece of a request may keep all of it. */
  public static final int BUFFER_BYTES = 16 * 1024;

  // Half of the direct memory is for the windows of all connections, and what a connection costs
  // besides, TLS included, fits into the heap as often.
  private static final int DIRECT_PER_CONNECTION = 2 * WINDOW_BYTES;
  private static final int HEAP_PER_CONNECTION = 64 * 1024;

  // An open call costs some 4 KB, and up to 8 KB more for its metadata until its first message.
  private static final int HEAP_PER_CALL = 32 * 1024;

  private static final int PARTIAL_PART = 4;
  private static final int UNREAD_PART = 8;
  private static final int LEAST = 64;

  /**
   * Returns the limits for a process with so much memory: a connection for each 64 KiB of heap and
   * 128 KiB of direct memory, a call for each 32 KiB of heap, a quarter of the direct memory for
   * requests that have not arrived whole, an eighth of the heap for what waits for slow readers.
   */
  public static ServerLimits of(long heapBytes, long directBytes) {
    int connections =
        count(Math.min(heapBytes / HEAP_PER_CONNECTION, directBytes / DIRECT_PER_CONNECTION));
    int calls = count(heapBytes / HEAP_PER_CALL);
    return new ServerLimits(
        connections,
        connections / 2,
        calls,
        calls / 2,
        directBytes / PARTIAL_PART,
        heapBytes / UNREAD_PART);
  }

  private static int count(long fitting) {
    return (int) Math.min(Integer.MAX_VALUE, Math.max(LEAST, fitting));
  }

  /** Returns the limits for this process. */
  public static ServerLimits ofThisProcess() {
    return of(Runtime.getRuntime().maxMemory(), PlatformDependent.maxDirectMemory());
  }
}
