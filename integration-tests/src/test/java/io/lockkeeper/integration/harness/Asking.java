package io.lockkeeper.integration.harness;

import com.google.protobuf.util.Durations;
import io.grpc.Channel;
import io.grpc.Status;
import io.lockkeeper.integration.harness.Timed.Arrival;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.Granted;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.QueuePosition;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.ReleaseResponse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;

/** One {@code Acquire} call on the bare stub. */
public final class Asking {

  private final Channel channel;
  private final Timed<AcquireRequest, AcquireResponse> events = new Timed<>();

  private Asking(Channel channel) {
    this.channel = channel;
  }

  /** Asks for a lock that lives as long as the call. */
  public static Asking forLock(Channel channel, String lock) {
    return with(channel, request(lock).build());
  }

  /** Asks. */
  public static Asking with(Channel channel, AcquireRequest request) {
    Asking asking = new Asking(channel);
    LockServiceGrpc.newStub(channel).acquire(request, asking.events);
    return asking;
  }

  /**
   * Acquires a lock soon after a fault, when a coordinator can still reject requests: retries until
   * one is granted.
   */
  public static Asking retryUntilGranted(Channel channel, String lock) {
    AtomicReference<Asking> last = new AtomicReference<>();
    Awaitility.await("a grant of " + lock)
        .untilAsserted(
            () -> {
              last.set(forLock(channel, lock));
              last.get().awaitGrant();
            });
    return last.get();
  }

  /** Returns a request for one lock, to be completed. */
  public static AcquireRequest.Builder request(String lock) {
    return AcquireRequest.newBuilder().addLocks(LockRequest.newBuilder().setName(lock));
  }

  /** Returns a request for one lock that waits at most so long. */
  public static AcquireRequest.Builder request(String lock, Duration wait) {
    return request(lock).setWaitTimeout(Durations.fromNanos(wait.toNanos()));
  }

  /** Returns a request for one lock under a lease. */
  public static AcquireRequest under(String lease, String requestId, String lock) {
    return request(lock).setLeaseId(lease).setRequestId(requestId).build();
  }

  /** Returns everything that came. */
  public Timed<AcquireRequest, AcquireResponse> events() {
    return events;
  }

  /** Returns the tokens of those who hold a lock, as a server shows them. */
  public static List<Long> holderTokens(Channel channel, String lock) {
    return LockServiceGrpc.newBlockingStub(channel)
        .getLock(GetLockRequest.newBuilder().setName(lock).build())
        .getLock()
        .getHoldersList()
        .stream()
        .map(Contender::getFencingToken)
        .toList();
  }

  /** Waits for an event. */
  public Arrival<AcquireResponse> await(EventCase wanted) {
    return events.await(wanted.name(), response -> response.getEventCase() == wanted);
  }

  /** Waits for one event or the other, and returns which came first. */
  public EventCase awaitEither(EventCase one, EventCase other) {
    return events
        .await(
            one + " or " + other,
            response -> response.getEventCase() == one || response.getEventCase() == other)
        .value()
        .getEventCase();
  }

  /** Waits until it is told who holds the lock: with its place, or when that has become known. */
  public Contender awaitHolder() {
    AcquireResponse told = events.await("a holder", r -> !holders(r).isEmpty()).value();
    return holders(told).get(0);
  }

  private static List<Contender> holders(AcquireResponse told) {
    List<QueuePosition> positions =
        told.hasQueued()
            ? told.getQueued().getPositionsList()
            : told.getPosition().getPositionsList();
    return positions.stream().flatMap(position -> position.getHoldersList().stream()).toList();
  }

  /** Returns an event if it has come. */
  public Optional<Arrival<AcquireResponse>> find(EventCase wanted) {
    return events.find(response -> response.getEventCase() == wanted);
  }

  /** Waits for the grant. */
  public Granted awaitGrant() {
    return await(EventCase.GRANTED).value().getGranted();
  }

  /** Waits for the grant and returns its token. */
  public long awaitToken() {
    return awaitGrant().getGrants(0).getFencingToken();
  }

  /** Waits for the end of the call. */
  public Status awaitEnd() {
    return events.awaitEnd();
  }

  /** Ends the call, and so gives up the lock or the place in its queue. */
  public void hangUp() {
    events.cancel();
  }

  /** Releases what was granted and returns the answer. */
  public ReleaseResponse release() {
    return release(channel);
  }

  /** Releases the lock by a call to whichever server. */
  public ReleaseResponse release(Channel at) {
    AcquireResponse grant = await(EventCase.GRANTED).value();
    return LockServiceGrpc.newBlockingStub(at)
        .release(
            ReleaseRequest.newBuilder()
                .setLeaseId(grant.getGranted().getLeaseId())
                .setRequestId(grant.getRequestId())
                .setFencingToken(grant.getGranted().getGrants(0).getFencingToken())
                .build());
  }
}
