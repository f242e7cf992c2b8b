package io.lockkeeper.client;

import io.grpc.Status;
import io.lockkeeper.client.internal.Loop;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.Refused;
import io.lockkeeper.v1.SessionOpened;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The client's lease, if it has one, and all that is asked for under it. Opens a lease when first
 * asked for a lock, and another one after that is over. On the client's loop only.
 */
final class Session implements Connector.Owner, Renewal.Owner {

  private static final Logger LOG = LoggerFactory.getLogger(Session.class);

  private final Surroundings around;
  private final Settings settings;
  private final Loop loop;
  private final Connector connector;
  private final AcquisitionLink link = new AcquisitionLink();
  private final Ledger ledger;
  private final CompletableFuture<Void> closed = new CompletableFuture<>();
  private final AtomicLong requestsMade = new AtomicLong();
  private Optional<Lease> lease = Optional.empty();
  private Optional<Renewal> renewal = Optional.empty();
  private volatile String leaseTag = "";
  private long brokenAtNanos;
  private boolean away;
  private boolean closing;

  Session(Surroundings around) {
    this.around = around;
    this.settings = around.settings();
    this.loop = around.loop();
    this.connector = new Connector(loop, new Servers(settings, around.discovery()), this);
    this.ledger = new Ledger(around, link);
  }

  /** Makes a request that does nothing before {@link #submit}. From any thread. */
  Acquisition prepare(LockRequest request) {
    return new Acquisition(nextRequestId(), request, around, link);
  }

  /** Short, since ZooKeeper keeps it; unique in this client, and so in each of its leases. */
  private String nextRequestId() {
    return Long.toString(requestsMade.incrementAndGet(), Character.MAX_RADIX);
  }

  /** Returns the lease's public short name; empty: there is none now. From any thread. */
  String leaseTag() {
    return leaseTag;
  }

  /** Takes a request. */
  void submit(Acquisition acquisition) {
    if (closing) {
      acquisition.fail(closedClient());
    } else if (ledger.add(acquisition)) {
      connector.start();
      acquisition.start();
    }
  }

  /** Ends the lease with all that it holds; runs {@code whenEnded} when the server has said so. */
  void close(Runnable whenEnded) {
    CompletableFuture<Void> unused = closed.thenRun(whenEnded);
    if (!closing) {
      closing = true;
      ledger.forEach(
          acquisition -> {
            acquisition.fail(closedClient());
            acquisition.onLeaseOver(LossReason.LEASE_CLOSED);
          });
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
    away = false;
    renewal.ifPresent(r -> r.onOpened(sentAtNanos, Protos.toNanos(opened.getValidFor())));
    if (closing) {
      connector.send(Requests.close());
    }
    ledger.repeat(brokenAtNanos);
    if (opened.getResumed()) {
      renewal.ifPresent(
          Renewal::keepAliveOnce); // Its answer comes after all that there is to tell.
    }
  }

  @Override
  public void onResponse(SessionResponse response) {
    // What comes too late must not revive what the user has seen end.
    if (isExpired()) {
      leaseOver(LossReason.DEADLINE_PASSED);
      return;
    }
    if (response.getEvent().hasSafe()) {
      renewal.ifPresent(Renewal::onSafe);
    }
    switch (response.getResponseCase()) {
      case KEPT_ALIVE -> onKeptAlive(response);
      case REFUSED -> onRefused(response);
      case GOING_AWAY -> onGoingAway(Protos.toNanos(response.getGoingAway().getResumeAfter()));
      case LEASE_ENDED -> leaseOver(Protos.toLossReason(response.getLeaseEnded().getReason()));
      case EVENT,
          RELEASED,
          RELEASE_ANSWERED,
          METADATA_UPDATED,
          OPENED,
          WATCHED,
          BATCH,
          RESPONSE_NOT_SET ->
          ledger.onResponse(response);
    }
  }

  private void onKeptAlive(SessionResponse response) {
    long nonce = response.getKeptAlive().getNonce();
    long validFor = Protos.toNanos(response.getKeptAlive().getValidFor());
    renewal.ifPresent(r -> r.onAcknowledged(nonce, validFor));
    ledger.forEach(acquisition -> acquisition.tenure().onKeptAlive(validFor));
  }

  private void onRefused(SessionResponse response) {
    Refused refused = response.getRefused();
    if (!refused.hasNonce()) {
      ledger.onResponse(response);
    } else if (refused.getCode() == Status.Code.RESOURCE_EXHAUSTED.value()) {
      renewal.ifPresent(r -> r.onOverloaded(refused.getNonce()));
    } // Otherwise another server may renew the lease: this one is left as if it had said nothing.
  }

  private void onGoingAway(long resumeAfterNanos) {
    onAway();
    connector.goOn(Math.max(0, Math.min(resumeAfterNanos, patienceNanos())));
  }

  /** There is no stream: the lease lives on, and may be resumed at any server. */
  private void onAway() {
    if (away) {
      return;
    }
    away = true;
    brokenAtNanos = loop.nanos();
    renewal.ifPresent(Renewal::onBroken);
  }

  @Override
  public void onBroken(Status status) {
    onAway();
    Status.Code code = status.getCode();
    if (lease.isPresent()) {
      // Only these are certain. Whatever else a server says, the lease ends by its deadline.
      if (code == Status.Code.NOT_FOUND || code == Status.Code.FAILED_PRECONDITION) {
        leaseOver(LossReason.LEASE_UNKNOWN);
      }
    } else if (!Protos.isPassing(code) && code != Status.Code.RESOURCE_EXHAUSTED) {
      connector.stop();
      String why = connector.lastFailure();
      ledger.forEach(a -> a.fail(new RequestRefusedException(code, why, "")));
    } else if (ledger.isEmpty()) {
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
    connector.retire();
    if (closing) {
      closed.complete(null);
    }
    ledger.forEach(a -> a.onLeaseOver(reason));
    if (!ledger.isEmpty()) {
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
    ledger.forEach(a -> a.tenure().onAboutToExpire(remainingNanos));
  }

  @Override
  public void onExpired() {
    leaseOver(LossReason.DEADLINE_PASSED);
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
      ledger.remove(acquisition);
    }
  }
}
