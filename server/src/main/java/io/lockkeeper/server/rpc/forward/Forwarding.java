package io.lockkeeper.server.rpc.forward;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.SynchronizationContext;
import io.lockkeeper.server.rpc.call.Access;
import io.lockkeeper.server.rpc.call.Authentication;
import io.lockkeeper.server.rpc.call.OpenStreams;
import io.lockkeeper.server.rpc.call.RpcStats;
import io.lockkeeper.server.rpc.wire.NamedLease;
import io.lockkeeper.server.rpc.wire.PeerHeaders;
import java.util.concurrent.Executor;

/**
 * Lets any coordinator serve any lease: a request that is refused here because its lease is not
 * served here goes to the coordinator that serves it, once found, and the answers come back as they
 * are. The one place that decides so.
 *
 * <p>One hop at most: a request that was forwarded says so, and is never forwarded again.
 */
public final class Forwarding implements ServerInterceptor {

  private final LeaseOwnerSearches searches;
  private final PeerLinks peers;
  private final OpenStreams streams;
  private final Executor calls;
  private final RpcStats stats;
  private final String ownId;

  /**
   * Prepares.
   *
   * @param calls the threads for calls
   * @param ownId this coordinator's id
   */
  public Forwarding(
      LeaseOwnerSearches searches,
      PeerLinks peers,
      OpenStreams streams,
      Executor calls,
      RpcStats stats,
      String ownId) {
    this.searches = searches;
    this.peers = peers;
    this.streams = streams;
    this.calls = calls;
    this.stats = stats;
    this.ownId = ownId;
  }

  @Override
  public <Q, R> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
    if (headers.containsKey(PeerHeaders.FORWARDED_BY)
        || !NamedLease.mayBeIn(call.getMethodDescriptor())) {
      return next.startCall(call, headers);
    }
    RoutedCall<Q, R> routed = new RoutedCall<>(call, headers, next, this, Access.current());
    routed.start();
    return routed;
  }

  /** Returns the headers of a forwarded request: it stays its caller's. */
  Metadata headers(Access access) {
    Metadata headers = new Metadata();
    headers.put(PeerHeaders.FORWARDED_BY, ownId);
    Authentication.addTo(headers, access);
    return headers;
  }

  LeaseOwnerSearches searches() {
    return searches;
  }

  PeerLinks peers() {
    return peers;
  }

  OpenStreams streams() {
    return streams;
  }

  /**
   * Returns what runs tasks one by one in the order in which they come, on the threads for calls.
   */
  Executor inOrder(SynchronizationContext serial) {
    return task -> {
      serial.executeLater(task);
      calls.execute(serial::drain);
    };
  }

  RpcStats stats() {
    return stats;
  }
}
