package io.lockkeeper.client.internal.session;

import io.grpc.Status;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockSpec;
import io.lockkeeper.client.LockkeeperException;
import io.lockkeeper.client.LossReason;
import io.lockkeeper.client.ServerUnavailableException;
import io.lockkeeper.client.internal.acquisition.Acquisition;
import io.lockkeeper.client.internal.acquisition.Acquisitions;
import io.lockkeeper.client.internal.acquisition.HoldState;
import io.lockkeeper.client.internal.acquisition.Keeper;
import io.lockkeeper.client.internal.acquisition.SessionLink;
import io.lockkeeper.client.internal.context.ClientContext;
import io.lockkeeper.client.internal.context.Settings;
import io.lockkeeper.client.internal.lease.Lease;
import io.lockkeeper.client.internal.lease.LeaseKey;
import io.lockkeeper.client.internal.lease.LeaseRenewal;
import io.lockkeeper.client.internal.lease.Promise;
import io.lockkeeper.client.internal.lease.Validity;
import io.lockkeeper.client.internal.loop.Loop;
import io.lockkeeper.client.internal.protocol.ErrorDetails;
import io.lockkeeper.client.internal.protocol.LockNames;
import io.lockkeeper.client.internal.protocol.Protos;
import io.lockkeeper.client.internal.protocol.SessionRequests;
import io.lockkeeper.client.internal.transport.ServerList;
import io.lockkeeper.v1.GoingAway;
import io.lockkeeper.v1.GoingAwayReason;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.Refused;
import io.lockkeeper.v1.SessionKeptAlive;
import io.lockkeeper.v1.SessionOpened;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The client's lease, if it has one, and all acquisitions under it. Opens a lease when a lock is
 * first requested, and another one when that is over. On the client's loop only.
 */
public final class Session
    implements SessionConnector.ConnectionHandler, LeaseRenewal.RenewalListener, SessionLink {

  private static final Logger LOG = LoggerFactory.getLogger(Session.class);
  private static final long MAX_OPENING_NANOS = TimeUnit.SECONDS.toNanos(3);

  /** More leases than this are not closed at a time: the others end by their time to live. */
  private static final int MAX_CLOSINGS = 8;

  /** Why nothing is done for a request any more. */
  public static final String CLOSED = "this client is closed: build another one";

  private final ClientContext context;
  private final Settings settings;
  private final Loop loop;
  private final SessionConnector connector;
  private final Acquisitions acquisitions;
  private final HoldState.LimitedHolds limitedHolds = new HoldState.LimitedHolds();
  private final CompletableFuture<Void> closed = new CompletableFuture<>();
  private final AtomicLong requestsMade = new AtomicLong();
  private final Set<LeaseClosing> closings = new HashSet<>();
  private LeaseKey key = LeaseKey.random();
  private Optional<Lease> lease = Optional.empty();
  private Optional<LeaseRenewal> renewal = Optional.empty();
  private volatile String leaseTag = "";
  private long epoch;
  private long brokenAtNanos;
  private boolean away;
  private boolean closing;
  private boolean wasServed;

  public Session(ClientContext context) {
    this.context = context;
    this.settings = context.settings();
    this.loop = context.loop();
    this.connector =
        new SessionConnector(loop, new ServerList(settings.channels(), context.discovery()), this);
    this.acquisitions = new Acquisitions(context, this);
  }

  /** Makes an acquisition that does nothing before {@link #request}. From any thread. */
  public Acquisition prepare(LockRequest request) {
    return new Acquisition(nextRequestId(), request, context, this);
  }

  /** Makes one whose locks are kept by {@code keeper} while that is of use. From any thread. */
  public Acquisition prepareKept(LockRequest request, Keeper keeper) {
    return new Acquisition(nextRequestId(), request, context, this, keeper);
  }

  /**
   * Submits a request from any thread.
   *
   * @param refusal looks on the loop whether it must not be sent
   * @throws IllegalStateException if the client is closed; the request fails with it, too
   */
  public void request(
      Acquisition acquisition, Supplier<Optional<? extends LockkeeperException>> refusal) {
    Runnable task =
        () -> refusal.get().ifPresentOrElse(acquisition::fail, () -> submit(acquisition));
    if (!loop.executeIfRunning(task)) {
      LockkeeperException closed = closedClient(acquisition);
      acquisition.result().completeExceptionally(closed); // For others than the caller.
      throw new IllegalStateException(closed.getMessage());
    }
  }

  /** Returns whether {@code owner} holds a lock, by a request of his own, that is in the way. */
  public boolean isHeldBy(String owner, List<LockSpec> locks) {
    return !owner.isEmpty() && acquisitions.isHeldBy(owner, locks);
  }

  /** Short, since ZooKeeper keeps it; unique in this client, and so in each of its leases. */
  private String nextRequestId() {
    return Long.toString(requestsMade.incrementAndGet(), Character.MAX_RADIX);
  }

  /** Returns the lease's public short name; empty: there is none now. From any thread. */
  public String leaseTag() {
    return leaseTag;
  }

  private void submit(Acquisition acquisition) {
    if (acquisition.isOver()) {
      return; // Withdrawn before it came here.
    }
    if (closing) {
      acquisition.fail(closedClient(acquisition));
    } else if (acquisitions.add(acquisition)) {
      connector.start();
      acquisition.start();
    }
  }

  /** Ends the lease with all that it holds; runs {@code whenEnded} when the server has said so. */
  public void close(Runnable whenEnded) {
    CompletableFuture<Void> unused = closed.thenRun(whenEnded);
    if (!closing) {
      closing = true;
      acquisitions.forEach(acquisition -> acquisition.onClosed(closedClient(acquisition)));
      if (lease.isEmpty()) {
        connector.stop();
        completeIfClosed();
      } else {
        connector.send(SessionRequests.close());
      }
    }
  }

  private void completeIfClosed() {
    if (closing && lease.isEmpty() && closings.isEmpty()) {
      closed.complete(null);
    }
  }

  /** Gives up everything; the loop is about to stop. */
  public void abandon() {
    closings.forEach(LeaseClosing::stop);
    renewal.ifPresent(LeaseRenewal::end);
    connector.shutDown();
    closed.complete(null);
  }

  private static LockkeeperException closedClient(Acquisition acquisition) {
    return new LockkeeperException(LockNames.quoted(acquisition.names()) + ": " + CLOSED);
  }

  @Override
  public OpenSession open() {
    return lease.isPresent()
        ? SessionRequests.resume(key.id(), key.secret())
        : SessionRequests.open(key.secret(), settings.ttl(), settings.holder());
  }

  /** Whatever comes with a lower epoch than was seen is of a server that was replaced. */
  @Override
  public boolean isCurrent(SessionResponse response) {
    if (response.hasGoingAway()) {
      return true; // About the stream, and perhaps of a server that does not serve the lease.
    }
    if (response.getEpoch() < epoch) {
      LOG.atDebug()
          .addKeyValue("lease", leaseTag)
          .addKeyValue("epoch", response.getEpoch())
          .log("Ignored: the lease is served in epoch {}", epoch);
      return false;
    }
    epoch = response.getEpoch();
    return true;
  }

  @Override
  public long attemptLimitNanos() {
    // Half of what is left, so that there is time to try another server.
    return lease
        .map(l -> l.validity().remainingNanos(loop.nanos()) / 2)
        .orElse(settings.requestTimeout().toNanos());
  }

  @Override
  public long openingLimitNanos(int servers) {
    // Asked only once, a slow one has its share of the time; some is left to say who was silent.
    long mostNanos =
        isToFailFast()
            ? Math.max(MAX_OPENING_NANOS, settings.requestTimeout().toNanos() / 5 * 4 / servers)
            : MAX_OPENING_NANOS;
    return Math.min(mostNanos, attemptLimitNanos());
  }

  @Override
  public void onOpened(SessionOpened opened, long sentAtNanos) {
    if (lease.isEmpty()) {
      Lease fresh = Lease.of(opened, sentAtNanos);
      lease = Optional.of(fresh);
      wasServed = true;
      key = key.of(opened.getLeaseId());
      leaseTag = fresh.tag();
      long warning = settings.expiryWarning().map(Loop::toNanos).orElse(fresh.ttlNanos() / 5);
      renewal = Optional.of(new LeaseRenewal(loop, fresh, warning, this));
    } else if (isExpired()) {
      leaseOver(LossReason.DEADLINE_PASSED, true);
      return;
    }
    away = false;
    renewal.ifPresent(r -> r.onOpened(sentAtNanos, Promise.of(opened)));
    if (closing) {
      connector.send(SessionRequests.close());
    }
    acquisitions.repeat(brokenAtNanos);
  }

  @Override
  public void onResponse(SessionResponse response) {
    // A late answer must not revive what the user has seen end.
    if (isExpired()) {
      leaseOver(LossReason.DEADLINE_PASSED, true);
      return;
    }
    if (response.getEvent().hasSafe()) {
      renewal.ifPresent(LeaseRenewal::onSafe);
    }
    switch (response.getResponseCase()) {
      case KEPT_ALIVE -> onKeptAlive(response.getKeptAlive());
      case REFUSED -> onRefused(response);
      case GOING_AWAY -> onGoingAway(response.getGoingAway());
      case LEASE_ENDED -> {
        LossReason reason = Protos.toLossReason(response.getLeaseEnded().getReason());
        leaseOver(reason, reason != LossReason.LEASE_CLOSED);
      }
      case EVENT,
          RELEASED,
          RELEASE_ANSWERED,
          METADATA_UPDATED,
          OPENED,
          WATCHED,
          BATCH,
          RESPONSE_NOT_SET ->
          acquisitions.onResponse(response);
    }
  }

  private void onKeptAlive(SessionKeptAlive kept) {
    renewal.ifPresent(r -> r.onAcknowledged(kept.getNonce(), Promise.of(kept)));
  }

  private void onRefused(SessionResponse response) {
    Refused refused = response.getRefused();
    if (refused.hasClose()) {
      closed.complete(null); // It ends by its time to live.
    } else if (!refused.hasKeepAlive()) {
      acquisitions.onResponse(response);
    } else {
      OptionalLong retryAfter = Protos.toRetryNanos(refused);
      // Where a server is only busy, so are the others. After another refusal, one may do better.
      boolean isBusy = refused.getCode() == Status.Code.RESOURCE_EXHAUSTED.value();
      renewal.ifPresent(r -> r.onRefused(refused.getKeepAlive(), retryAfter, isBusy));
    }
  }

  @Override
  public void onGoingAway(GoingAway going) {
    boolean superseded = going.getReason() == GoingAwayReason.GOING_AWAY_REASON_SUPERSEDED;
    if (superseded && lease.isPresent() && !connector.wasSupersededByItself()) {
      leaseOver(LossReason.SUPERSEDED, false);
      return;
    }
    onAway();
    connector.moveToNext(Protos.toNanos(going.getResumeAfter()));
  }

  /** There is no stream: the lease continues, and may be resumed at any server. */
  private void onAway() {
    if (away) {
      return;
    }
    away = true;
    brokenAtNanos = loop.nanos();
    renewal.ifPresent(LeaseRenewal::onBroken);
  }

  @Override
  public void onBroken(ErrorDetails why) {
    onAway();
    Status.Code code = why.code();
    if (lease.isPresent()) {
      // Only these are certain. After any other refusal, the lease lasts until its deadline.
      if (code == Status.Code.NOT_FOUND || code == Status.Code.FAILED_PRECONDITION) {
        leaseOver(LossReason.LEASE_UNKNOWN, code == Status.Code.NOT_FOUND);
      }
      return;
    }
    if (code == Status.Code.FAILED_PRECONDITION) {
      useNewKey(); // A lease whose opening got no answer has ended meanwhile.
    } else if (!why.isPassing() && code != Status.Code.RESOURCE_EXHAUSTED) {
      acquisitions.forEach(a -> a.fail(why.toException(LockNames.quoted(a.names()))));
    } else if (isToFailFast() && nobodyIsThere()) {
      acquisitions.forEach(a -> a.fail(unavailable(a.names())));
    }
    if (acquisitions.isEmpty()) {
      connector.stop();
    }
  }

  private boolean isToFailFast() {
    return settings.failFast() && !wasServed;
  }

  /** Returns whether each server was tried, and none has said that it will serve before long. */
  private boolean nobodyIsThere() {
    return connector.hasTriedAll()
        && connector.failed().values().stream().allMatch(why -> why.isOfTransport() || isFull(why));
  }

  private static boolean isFull(ErrorDetails why) {
    return why.code() == Status.Code.RESOURCE_EXHAUSTED;
  }

  /** Whatever is known of a lease is not known of the next one. */
  private void useNewKey() {
    key = LeaseKey.random();
    epoch = 0;
    connector.forgetLease();
  }

  private boolean isExpired() {
    return renewal.filter(LeaseRenewal::isExpired).isPresent();
  }

  /**
   * The lease is over.
   *
   * @param isToBeClosed whether a server may still keep its locks, and they are not another's
   */
  private void leaseOver(LossReason reason, boolean isToBeClosed) {
    String id = key.id();
    LOG.atDebug().addKeyValue("lease", leaseTag).log("The lease is over: {}", reason);
    renewal.ifPresent(LeaseRenewal::end);
    renewal = Optional.empty();
    lease = Optional.empty();
    useNewKey();
    leaseTag = "";
    connector.retire();
    acquisitions.forEach(a -> a.onLeaseOver(reason));
    if (isToBeClosed && closings.size() < MAX_CLOSINGS) {
      closeAtServers(id);
    }
    completeIfClosed();
    if (!acquisitions.isEmpty()) {
      connector.start();
    }
  }

  private void closeAtServers(String leaseId) {
    LeaseClosing begun =
        new LeaseClosing(
            leaseId,
            loop,
            new ServerList(settings.channels(), context.discovery()),
            context.backoff(),
            ended -> {
              closings.remove(ended);
              completeIfClosed();
            });
    closings.add(begun);
    begun.start();
  }

  @Override
  public void sendKeepAlive(long nonce) {
    connector.send(SessionRequests.keepAlive(nonce));
  }

  @Override
  public void onSilence() {
    connector.fail("no answer to a keep-alive");
  }

  @Override
  public void onAboutToExpire(long remainingNanos) {
    acquisitions.forEach(a -> a.hold().onAboutToExpire(remainingNanos));
  }

  @Override
  public void onExpired() {
    leaseOver(LossReason.DEADLINE_PASSED, true);
  }

  @Override
  public boolean send(SessionRequest request) {
    return lease.isPresent() && connector.send(request);
  }

  @Override
  public LockkeeperException unavailable(String locks) {
    Map<String, ErrorDetails> failed = connector.failed();
    Optional<ErrorDetails> full = failed.values().stream().filter(Session::isFull).findFirst();
    if (full.isPresent()) {
      return full.get().toException(LockNames.quoted(locks));
    }
    return new ServerUnavailableException(
        settings.unavailable(LockNames.quoted(locks), connector.lastFailure()),
        failed.entrySet().stream()
            .map(server -> server.getKey() + ": " + server.getValue().inWords())
            .toList());
  }

  @Override
  public Validity validity() {
    return lease.orElseThrow().validity();
  }

  @Override
  public HoldState.LimitedHolds limitedHolds() {
    return limitedHolds;
  }

  @Override
  public void ended(Acquisition acquisition) {
    acquisitions.remove(acquisition);
  }
}
