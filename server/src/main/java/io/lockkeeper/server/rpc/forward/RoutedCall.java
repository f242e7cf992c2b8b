package io.lockkeeper.server.rpc.forward;

import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.SynchronizationContext;
import io.lockkeeper.server.coordinator.api.Peer;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.rpc.call.Access;
import io.lockkeeper.server.rpc.call.CallGuard;
import io.lockkeeper.server.rpc.call.ConnectionAge;
import io.lockkeeper.server.rpc.call.OpenStreams;
import io.lockkeeper.server.rpc.call.TraceHeader;
import io.lockkeeper.server.rpc.wire.AcquireRequests;
import io.lockkeeper.server.rpc.wire.NamedLease;
import io.lockkeeper.server.rpc.wire.OverLimitException;
import io.lockkeeper.server.rpc.wire.PeerHeaders;
import io.lockkeeper.server.rpc.wire.Refusal;
import io.lockkeeper.server.rpc.wire.Statuses;
import io.lockkeeper.v1.SessionResponse;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A call that names a lease, on its way to whoever serves the lease.
 *
 * <pre>
 *   here --refused: not served here--> searching --found--> crossing
 *    |  ^                                |  ^                  |  |
 *    |  '-------- it is here ------------'  '-- no answer yet--'  |
 *    |                                   |     and peer gone      |
 *    '--- any other end ---> ended <-----'--- any other end ------'
 * </pre>
 *
 * <p>Where a lease has no record it may be a call at another coordinator, and nobody can tell at
 * which: a request about an acquisition is taken to one peer after the other.
 *
 * <p>Until the first answer, the first request is kept, and nothing else is read from the client;
 * so the call can be tried anew anywhere. What happens, happens in serial.
 */
final class RoutedCall<Q, R> extends ServerCall.Listener<Q> implements OpenStreams.Leavable {

  private final ServerCall<Q, R> call;
  private final Metadata headers;
  private final ServerCallHandler<Q, R> service;
  private final Forwarding forwarding;
  private final Context context = Context.current();
  private final Optional<ConnectionAge.AgedConnection> connection = CallGuard.connection();
  private final Access access;
  private final SynchronizationContext sync =
      new SynchronizationContext((thread, bug) -> finish(Statuses.of(bug)));
  private final Executor serial;
  private final AtomicInteger inFlight = new AtomicInteger();
  private volatile Optional<Q> first = Optional.empty();
  private volatile boolean answered;
  private volatile boolean ended;
  private boolean halfClosed;
  private boolean forwarded;
  private boolean away;
  private Optional<LeaseOwnerSearch> search = Optional.empty();
  private Optional<Deque<PeerLink>> unasked = Optional.empty();
  private boolean isCertain = true;
  private ServerCall.Listener<Q> stage = new Nobody<>();

  /** Hears the client while nobody else does. */
  private static final class Nobody<Q> extends ServerCall.Listener<Q> {}

  RoutedCall(
      ServerCall<Q, R> call,
      Metadata headers,
      ServerCallHandler<Q, R> service,
      Forwarding forwarding,
      Access access) {
    this.access = access;
    this.call = call;
    this.headers = headers;
    this.service = service;
    this.forwarding = forwarding;
    this.serial = forwarding.inOrder(sync);
  }

  /** Begins here. */
  void start() {
    stage = service.startCall(new LocalAttempt<>(call, this, false), headers);
  }

  // What the client does.

  @Override
  public void onMessage(Q message) {
    sync.execute(
        () -> {
          inFlight.decrementAndGet();
          if (!answered && first.isEmpty()) {
            first = Optional.of(message);
          }
          stage.onMessage(message);
        });
  }

  @Override
  public void onHalfClose() {
    sync.execute(
        () -> {
          halfClosed = true;
          stage.onHalfClose();
        });
  }

  @Override
  public void onReady() {
    sync.execute(() -> stage.onReady());
  }

  @Override
  public void onCancel() {
    sync.execute(
        () -> {
          close();
          stage.onCancel();
        });
  }

  @Override
  public void onComplete() {
    sync.execute(
        () -> {
          close();
          stage.onComplete();
        });
  }

  // What this coordinator's own service does, on any thread.

  /** Asks for requests; if the first of them is at hand, that one is not asked for. */
  void request(int count, boolean firstIsAtHand) {
    int more = firstIsAtHand ? count - 1 - inFlight.get() : count;
    if (more > 0) {
      inFlight.addAndGet(more);
      call.request(more);
    }
  }

  /** Notes that the client gets an answer: from now on the call stays where it is. */
  void answeredHere() {
    answered = true;
    first = Optional.empty();
  }

  /** Takes a refusal that another coordinator may not share. */
  void refusedHere(Status status, Metadata trailers) {
    serial.execute(
        () -> {
          if (ended) {
            return;
          }
          stage = new Nobody<>();
          if (isOverLimit()) {
            return;
          }
          Optional<LeaseId> lease = first.flatMap(NamedLease::of);
          if (lease.isPresent()) {
            search(lease.get());
          } else if (first.flatMap(NamedLease::tagIn).isPresent()) {
            leaveHere();
            askPeers();
          } else {
            finish(status, trailers);
          }
        });
  }

  /** To give a lock back is never refused where its lease is served; to look for a lease is. */
  private boolean isOverLimit() {
    try {
      access.requireRate();
      return false;
    } catch (OverLimitException e) {
      finish(Statuses.of(e));
      return true;
    }
  }

  private void search(LeaseId lease) {
    if (search.isEmpty()) {
      search = Optional.of(new LeaseOwnerSearch(lease, forwarding.searches(), serial, this));
      leaveHere();
    }
    away = true;
    search.get().ask();
  }

  private void leaveHere() {
    away = true;
    forwarding.streams().add(this, connection, NamedLease.isStream(method()));
  }

  // What the search finds, in serial.

  /** This peer serves the lease. */
  void onPeer(Peer peer) {
    Optional<PeerLink> link = forwarding.peers().link(peer).filter(PeerLink::mayBeAsked);
    if (link.isEmpty()) {
      searchOn();
      return;
    }
    cross(link.get());
  }

  private void cross(PeerLink link) {
    if (!forwarded) {
      forwarded = true;
      forwarding.stats().forwarded.increment();
      first = first.map(request -> AcquireRequests.named(request, method()));
    }
    ForwardedCall<Q, R> forwardedCall =
        new ForwardedCall<>(call, this, link, Optional.ofNullable(context.getDeadline()), serial);
    stage = forwardedCall;
    Metadata there = forwarding.headers(access);
    TraceHeader.copy(headers, there);
    forwardedCall.start(there, first.orElseThrow(), halfClosed);
  }

  /** The request should be tried here once more. */
  void onHere() {
    away = false;
    Q request = first.orElseThrow();
    context.run(
        () -> {
          stage = service.startCall(new LocalAttempt<>(call, this, true), headers);
          stage.onMessage(request);
          if (halfClosed) {
            stage.onHalfClose();
          }
        });
  }

  /** There is no such lease. */
  void onUnknown() {
    if (first.filter(NamedLease::opens).isPresent()) {
      onHere(); // Who had it when it was refused here has lost it since.
      return;
    }
    askPeers();
  }

  /** A lease that is a call has no record, and one that is named by its tag is not found by it. */
  private void askPeers() {
    List<PeerLink> peers =
        NamedLease.mayBeOfAStream(method()) ? forwarding.peers().all() : List.of();
    List<PeerLink> serving = peers.stream().filter(PeerLink::serves).toList();
    isCertain = serving.size() == peers.size();
    unasked = Optional.of(new ArrayDeque<>(serving));
    askNextPeer();
  }

  private void askNextPeer() {
    PeerLink next = unasked.orElseThrow().poll();
    if (next != null) {
      cross(next);
    } else if (isCertain) {
      finishUnknown();
    } else {
      finish(Statuses.unreachable("no coordinator that answers has the lease; send it again"));
    }
  }

  /** A peer could not be asked to the end. */
  void lostPeer() {
    isCertain = false;
    searchOn();
  }

  private void finishUnknown() {
    String tag = first.flatMap(NamedLease::tagIn).orElse("");
    finish(Statuses.of(new Failure(Failure.Reason.UNKNOWN_LEASE, Failure.nobodyServes(tag))));
  }

  /** Nobody serves the lease soon enough, or nobody can say who does. */
  void onGivenUp(Refusal why) {
    finish(why);
  }

  // What a crossing tells, in serial.

  /** Notes that a peer answers. Returns whether this is the first answer. */
  boolean answeredByPeer() {
    boolean isFirst = !answered;
    answered = true;
    first = Optional.empty();
    return isFirst;
  }

  boolean isAnswered() {
    return answered;
  }

  boolean isEnded() {
    return ended;
  }

  /** Looks for whoever serves the lease by now. */
  void searchOn() {
    stage = new Nobody<>();
    if (unasked.isPresent()) {
      askNextPeer();
    } else {
      search.ifPresent(LeaseOwnerSearch::ask);
    }
  }

  /** Asks the client for its next request, unless that was done before. */
  void requestNext() {
    if (inFlight.compareAndSet(0, 1)) {
      call.request(1);
    }
  }

  /** Ends the call so that the client comes again: its lease lives on. */
  void sendAway(Refusal why) {
    if (answered && NamedLease.isStream(method())) {
      forwarding.stats().sentAway.increment();
      SessionResponse goodbye =
          SessionResponse.newBuilder().setGoingAway(why.toGoingAway()).build();
      call.sendMessage(method().parseResponse(goodbye.toByteString().newInput()));
      finish(Status.OK, new Metadata());
    } else {
      finish(why);
    }
  }

  /** Ends the call, here and where it goes on; one that has ended stays as it ended. */
  void finish(Status status, Metadata trailers) {
    if (ended) {
      return;
    }
    close();
    ServerCall.Listener<Q> left = stage;
    stage = new Nobody<>();
    left.onCancel(); // A client that does not read may keep its half open for long.
    trailers.discardAll(PeerHeaders.NOT_SERVED_HERE);
    call.close(status, trailers);
  }

  private void finish(Refusal refusal) {
    StatusRuntimeException exception = refusal.toException();
    Metadata trailers = exception.getTrailers();
    finish(exception.getStatus(), trailers == null ? new Metadata() : trailers);
  }

  private void close() {
    ended = true;
    search.ifPresent(LeaseOwnerSearch::close);
    forwarding.streams().remove(this);
  }

  private MethodDescriptor<Q, R> method() {
    return call.getMethodDescriptor();
  }

  @Override
  public void goAway(Refusal why) {
    serial.execute(
        () -> {
          if (away && !ended) {
            sendAway(why);
          }
        });
  }
}
