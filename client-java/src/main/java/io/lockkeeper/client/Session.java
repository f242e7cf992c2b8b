package io.lockkeeper.client;

import io.grpc.Status;
import io.lockkeeper.client.internal.Loop;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.SessionOpened;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The client's lease, if it has one, and all that is asked for under it. Opens a lease when first
 * asked for a lock, and another one after that is over. On the client's loop only.
 */
final class Session implements Connector.Owner, Renewal.Owner {

  private static final Logger LOG = LoggerFactory.getLogger(Session.class);

  /** How many requests and holds one client may have. */
  private static final int CAPACITY = 10_000;

  /** Stands for a request that is known by its id only. */
  private static final LockRequest UNWANTED = LockRequest.of("unwanted");

  private final Surroundings around;
  private final Settings settings;
  private final Loop loop;
  private final Connector connector;
  private final AcquisitionLink link = new AcquisitionLink();
  private final Map<String, Acquisition> acquisitions = new LinkedHashMap<>();
  private final CompletableFuture<Void> closed = new CompletableFuture<>();
  private Optional<Lease> lease = Optional.empty();
  private Optional<Renewal> renewal = Optional.empty();
  private volatile String leaseTag = "";
  private boolean closing;

  Session(Surroundings around) {
    this.around = around;
    this.settings = around.settings();
    this.loop = around.loop();
    this.connector = new Connector(loop, new Servers(settings), this);
  }

  /** Makes a request that does nothing before {@link #submit}. From any thread. */
  Acquisition prepare(LockRequest request) {
    return new Acquisition(request, around, link);
  }

  /** Returns the lease's public short name; empty: there is none now. From any thread. */
  String leaseTag() {
    return leaseTag;
  }

  /** Takes a request. */
  void submit(Acquisition acquisition) {
    if (closing) {
      acquisition.fail(closedClient());
    } else if (acquisitions.size() >= CAPACITY) {
      acquisition.fail(
          new LockkeeperException(
              "this client has " + CAPACITY + " requests and locks: release some, or use more"));
    } else {
      acquisitions.put(acquisition.requestId(), acquisition);
      connector.start();
      acquisition.start();
    }
  }

  /** Ends the lease with all that it holds; runs {@code whenEnded} when the server has said so. */
  void close(Runnable whenEnded) {
    CompletableFuture<Void> unused = closed.thenRun(whenEnded);
    if (!closing) {
      closing = true;
      for (Acquisition acquisition : List.copyOf(acquisitions.values())) {
        acquisition.fail(closedClient());
        acquisition.onLeaseOver(LossReason.LEASE_CLOSED);
      }
      if (lease.isEmpty()) {
        connector.stop();
        closed.complete(null);
      } else {
        connector.send(Requests.close());
      }
    }
  }

  /** Gives up everything; the loop is about to stop. */
  void abandon() {
    renewal.ifPresent(Renewal::end);
    connector.shutDown();
    closed.complete(null);
  }

  private static LockkeeperException closedClient() {
    return new LockkeeperException("this client is closed: build another one");
  }

  @Override
  public OpenSession open() {
    return Requests.open(lease, settings);
  }

  @Override
  public long patienceNanos() {
    // Half of what is left, so that there is time to try another server.
    return lease
        .map(l -> l.validity().remainingNanos(loop.nanos()) / 2)
        .orElse(settings.requestTimeout().toNanos());
  }

  @Override
  public void onOpened(SessionOpened opened, long sentAtNanos) {
    if (lease.isEmpty()) {
      Lease fresh = new Lease(opened, sentAtNanos);
      lease = Optional.of(fresh);
      leaseTag = fresh.tag();
      long warning = settings.expiryWarning().map(Requests::nanos).orElse(fresh.ttlNanos() / 5);
      renewal = Optional.of(new Renewal(loop, fresh, warning, this));
    } else if (isExpired()) {
      leaseOver(LossReason.DEADLINE_PASSED);
      return;
    }
    renewal.ifPresent(r -> r.onOpened(sentAtNanos, Protos.toNanos(opened.getValidFor())));
    if (closing) {
      connector.send(Requests.close());
    }
    List.copyOf(acquisitions.values()).forEach(Acquisition::onOpened);
  }

  @Override
  public void onResponse(SessionResponse response) {
    // What comes too late must not revive what the user has seen end.
    if (isExpired()) {
      leaseOver(LossReason.DEADLINE_PASSED);
      return;
    }
    switch (response.getResponseCase()) {
      case KEPT_ALIVE -> onKeptAlive(response);
      case EVENT -> onEvent(response.getEvent());
      case RELEASED ->
          find(response.getReleased().getRequestId())
              .ifPresent(a -> a.onReleased(response.getReleased().getResult()));
      case REFUSED ->
          find(response.getRefused().getId()).ifPresent(a -> a.onRefused(response.getRefused()));
      case GOING_AWAY -> onGoingAway(Protos.toNanos(response.getGoingAway().getResumeAfter()));
      case LEASE_ENDED -> leaseOver(Protos.toLossReason(response.getLeaseEnded().getReason()));
      case RELEASE_ANSWERED ->
          find(response.getReleaseAnswered().getRequestId()).ifPresent(Acquisition::onAnswered);
      case METADATA_UPDATED ->
          find(response.getMetadataUpdated().getRequestId()).ifPresent(Acquisition::onAnswered);
      case OPENED, WATCHED, RESPONSE_NOT_SET ->
          LOG.atDebug().log("The server sent what was not asked for: {}", response);
    }
  }

  private void onKeptAlive(SessionResponse response) {
    long nonce = response.getKeptAlive().getNonce();
    long validFor = Protos.toNanos(response.getKeptAlive().getValidFor());
    renewal.ifPresent(r -> r.onAcknowledged(nonce, validFor));
  }

  private void onEvent(AcquireResponse event) {
    Optional<Acquisition> known = find(event.getRequestId());
    if (known.isPresent()) {
      known.get().onEvent(event);
    } else if (event.hasGranted() || event.hasQueued()) {
      // Nobody here waits for it any more: it must not stay, or stand in others' way.
      LOG.atDebug().addKeyValue("acquisition", event.getRequestId()).log("Releasing a late grant");
      release(event.getRequestId());
    }
  }

  /** Releases what nobody here knows, until that is certain or the lease is over. */
  private void release(String requestId) {
    if (acquisitions.size() >= CAPACITY) {
      connector.send(Requests.release(requestId, 0));
      return; // No room to remember it: the server tells of it again after a resume.
    }
    Acquisition unwanted = new Acquisition(requestId, UNWANTED, around, link);
    acquisitions.put(requestId, unwanted);
    unwanted.leave();
  }

  private void onGoingAway(long resumeAfterNanos) {
    renewal.ifPresent(Renewal::onBroken);
    connector.reopen(Math.max(0, Math.min(resumeAfterNanos, patienceNanos())));
  }

  @Override
  public void onBroken(Status status, boolean atHome) {
    renewal.ifPresent(Renewal::onBroken);
    if (lease.isPresent()) {
      Status.Code code = status.getCode();
      // Another server may just not know it.
      if (atHome && (code == Status.Code.NOT_FOUND || code == Status.Code.FAILED_PRECONDITION)) {
        leaseOver(LossReason.LEASE_UNKNOWN);
      }
    } else if (!Protos.isPassing(status.getCode())
        && status.getCode() != Status.Code.RESOURCE_EXHAUSTED) {
      connector.stop();
      String why = connector.lastFailure();
      for (Acquisition acquisition : List.copyOf(acquisitions.values())) {
        acquisition.fail(new RequestRefusedException(status.getCode(), why, ""));
      }
    } else if (acquisitions.isEmpty()) {
      connector.stop();
    }
  }

  private boolean isExpired() {
    return renewal.filter(Renewal::isExpired).isPresent();
  }

  private void leaseOver(LossReason reason) {
    if (reason == LossReason.DEADLINE_PASSED) {
      // If the server does hear us, it need not wait for the lease to run out.
      connector.send(Requests.close());
    }
    LOG.atDebug().addKeyValue("lease", leaseTag).log("The lease is over: {}", reason);
    renewal.ifPresent(Renewal::end);
    renewal = Optional.empty();
    lease = Optional.empty();
    leaseTag = "";
    connector.forgetLease();
    if (closing) {
      closed.complete(null);
    }
    List.copyOf(acquisitions.values()).forEach(a -> a.onLeaseOver(reason));
    if (!acquisitions.isEmpty()) {
      connector.start();
    }
  }

  @Override
  public void sendKeepAlive(long nonce) {
    connector.send(Requests.keepAlive(nonce));
  }

  @Override
  public void onSilence() {
    connector.fail("no answer to a keep-alive");
  }

  @Override
  public void onAboutToExpire(long remainingNanos) {
    List.copyOf(acquisitions.values()).forEach(a -> a.onAboutToExpire(remainingNanos));
  }

  @Override
  public void onExpired() {
    leaseOver(LossReason.DEADLINE_PASSED);
  }

  private Optional<Acquisition> find(String requestId) {
    return Optional.ofNullable(acquisitions.get(requestId));
  }

  /** What acquisitions see of the session. */
  private final class AcquisitionLink implements Link {
    private final LimitedHolds limited = new LimitedHolds();

    @Override
    public boolean send(SessionRequest request) {
      return lease.isPresent() && connector.send(request);
    }

    @Override
    public LockkeeperException unavailable() {
      return ServerUnavailableException.of(settings, connector.lastFailure());
    }

    @Override
    public Validity validity() {
      return lease.orElseThrow().validity();
    }

    @Override
    public LimitedHolds limited() {
      return limited;
    }

    @Override
    public void ended(Acquisition acquisition) {
      acquisitions.remove(acquisition.requestId());
    }
  }
}
