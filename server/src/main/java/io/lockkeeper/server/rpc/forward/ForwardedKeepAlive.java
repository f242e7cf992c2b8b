package io.lockkeeper.server.rpc.forward;

import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.SynchronizationContext;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.Peer;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.rpc.call.Access;
import io.lockkeeper.server.rpc.call.Answers;
import io.lockkeeper.server.rpc.wire.Messages;
import io.lockkeeper.server.rpc.wire.PeerHeaders;
import io.lockkeeper.server.rpc.wire.Refusal;
import io.lockkeeper.v1.KeepAliveRequest;
import io.lockkeeper.v1.KeepAliveResponse;
import io.lockkeeper.v1.LeaseEndReason;
import io.lockkeeper.v1.LeaseServiceGrpc;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * One renewal of a lease that is not served here. It goes to the peer on a call of its own, since
 * the client's stream may renew leases of many coordinators.
 */
public final class ForwardedKeepAlive implements LeaseOwnerSearch.Seeker {

  private final LeaseId lease;
  private final Coordinator coordinator;
  private final Forwarding forwarding;
  private final Access access;
  private final CompletableFuture<KeepAliveResponse> answer = new CompletableFuture<>();
  private final SynchronizationContext sync =
      new SynchronizationContext((thread, bug) -> fail(bug));
  private final Executor turns;
  private final LeaseOwnerSearch search;
  private boolean forwarded;

  ForwardedKeepAlive(LeaseId lease, Coordinator coordinator, Forwarding forwarding, Access access) {
    this.access = access;
    this.lease = lease;
    this.coordinator = coordinator;
    this.forwarding = forwarding;
    this.turns = forwarding.inOrder(sync);
    this.search = new LeaseOwnerSearch(lease, forwarding.searches(), turns, this);
  }

  /** Begins to look for whoever serves the lease. */
  void start() {
    turns.execute(search::ask);
  }

  /** Completes with the answer for the client. */
  CompletableFuture<KeepAliveResponse> answer() {
    return answer;
  }

  @Override
  public void onPeer(Peer peer) {
    Optional<PeerLink> link = forwarding.peers().link(peer).filter(PeerLink::mayBeAsked);
    if (link.isEmpty()) {
      search.ask();
      return;
    }
    if (!forwarded) {
      forwarded = true;
      forwarding.stats().forwarded.increment();
    }
    Attempt attempt = new Attempt(link.get());
    if (!link.get().enter(attempt)) {
      fail(PeerFailure.tooMuch().toException());
      return;
    }
    link.get().sent();
    StreamObserver<KeepAliveRequest> requests =
        LeaseServiceGrpc.newStub(link.get().channel())
            .withDeadlineAfter(Coordinator.ANSWER_SECONDS, TimeUnit.SECONDS)
            .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(forwarding.headers(access)))
            .keepAlive(attempt);
    requests.onNext(KeepAliveRequest.newBuilder().setLeaseId(lease.toString()).build());
    requests.onCompleted();
  }

  @Override
  public void onHere() {
    Answers.deliver(
        renewedHere(coordinator, lease, forwarding.ownId()),
        known -> turns.execute(() -> known.ifPresentOrElse(this::complete, search::ask)),
        refusal -> fail(refusal.toException()));
  }

  @Override
  public void onUnknown() {
    complete(Messages.unknownLease(lease));
  }

  @Override
  public void onGivenUp(Refusal why) {
    fail(why.toException());
  }

  private void complete(KeepAliveResponse response) {
    search.close();
    answer.complete(response);
  }

  private void fail(Throwable cause) {
    turns.execute(search::close);
    answer.completeExceptionally(cause);
  }

  private void onFailed(PeerLink link, Status status, Metadata trailers) {
    if (PeerFailure.isOnTheWay(status, trailers)) {
      link.unreachable(status);
      search.ask();
    } else if (PeerHeaders.isMarked(trailers)) {
      link.heard();
      search.ask();
    } else {
      fail(status.asRuntimeException(PeerFailure.details(trailers)));
    }
  }

  /** One peer's answer. */
  private final class Attempt implements StreamObserver<KeepAliveResponse>, PeerLink.Traffic {

    private final PeerLink link;
    private boolean over;

    Attempt(PeerLink link) {
      this.link = link;
    }

    /** Returns whether the attempt ends by this: of all that can end it, the first does. */
    private boolean ends() {
      boolean first = !over;
      over = true;
      link.leave(this);
      return first;
    }

    @Override
    public void onSilence() {
      turns.execute(
          () -> {
            if (ends()) {
              search.ask();
            }
          });
    }

    @Override
    public void onNext(KeepAliveResponse response) {
      turns.execute(
          () -> {
            link.heard();
            if (!ends()) {
              return;
            }
            if (response.hasEnded()
                && response.getEnded() == LeaseEndReason.LEASE_END_REASON_UNSPECIFIED) {
              search.ask();
            } else {
              complete(response);
            }
          });
    }

    @Override
    public void onError(Throwable cause) {
      Metadata trailers = Status.trailersFromThrowable(cause);
      turns.execute(
          () -> {
            if (ends()) {
              onFailed(
                  link, Status.fromThrowable(cause), trailers == null ? new Metadata() : trailers);
            }
          });
    }

    @Override
    public void onCompleted() {
      onError(Status.UNAVAILABLE.withDescription("no answer").asRuntimeException());
    }
  }

  /** Renews a lease. Completes without an answer if the lease is not served here. */
  public static CompletableFuture<Optional<KeepAliveResponse>> renewedHere(
      Coordinator coordinator, LeaseId lease, String coordinatorId) {
    return coordinator
        .keepAlive(lease)
        .thenApply(
            answer -> Optional.of(Messages.toKeepAliveResponse(lease, answer, coordinatorId)))
        .exceptionally(ForwardedKeepAlive::elsewhereOrRethrow);
  }

  private static Optional<KeepAliveResponse> elsewhereOrRethrow(Throwable cause) {
    Throwable root =
        cause instanceof CompletionException && cause.getCause() != null ? cause.getCause() : cause;
    if (root instanceof RefusedException refused
        && PeerHeaders.mayHelp(refused.failure().reason())) {
      return Optional.empty();
    }
    throw new CompletionException(root);
  }
}
