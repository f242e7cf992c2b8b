package io.lockkeeper.server.rpc.forward;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.SynchronizationContext;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.rpc.call.Access;
import io.lockkeeper.server.rpc.call.Authentication;
import io.lockkeeper.server.rpc.call.OpenStreams;
import io.lockkeeper.server.rpc.call.RpcStats;
import io.lockkeeper.server.rpc.wire.NamedLease;
import io.lockkeeper.server.rpc.wire.PeerHeaders;
import io.lockkeeper.v1.KeepAliveResponse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Lets any coordinator serve any lease: a request that is refused here because its lease is not
 * served here goes to the coordinator that serves it, once found, and the answers come back as they
 * are. The one place that decides so.
 *
 * <p>One hop at most: a request that was forwarded says so, and is never forwarded again.
 */
public final class Forwarding implements ServerInterceptor {

  private static final Context.Key<Boolean> FORWARDED =
      Context.keyWithDefault("lockkeeper-forwarded", false);

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
    boolean forwarded = headers.containsKey(PeerHeaders.FORWARDED_BY);
    if (forwarded || !NamedLease.mayBeIn(call.getMethodDescriptor())) {
      Context context = Context.current().withValue(FORWARDED, forwarded);
      return Contexts.interceptCall(context, call, headers, next);
    }
    RoutedCall<Q, R> routed = new RoutedCall<>(call, headers, next, this, Access.current());
    routed.start();
    return routed;
  }

  /** Returns whether another coordinator has forwarded the current call. */
  public static boolean isForwarded() {
    return FORWARDED.get();
  }

  /**
   * Renews a lease that is not served here. Completes with the answer for the client, also if there
   * is no such lease.
   *
   * @param local this coordinator, as the caller uses it
   * @param access who calls
   */
  public CompletableFuture<KeepAliveResponse> keepAlive(
      Coordinator local, LeaseId lease, Access access) {
    ForwardedKeepAlive keepAlive = new ForwardedKeepAlive(lease, local, this, access);
    keepAlive.start();
    return keepAlive.answer();
  }

  /** Returns the headers of a forwarded request: it stays its caller's. */
  Metadata headers(Access access) {
    Metadata headers = new Metadata();
    headers.put(PeerHeaders.FORWARDED_BY, ownId);
    Authentication.addTo(headers, access);
    return headers;
  }

  String ownId() {
    return ownId;
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
