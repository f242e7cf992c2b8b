package io.lockkeeper.integration.fuzz;

import com.google.protobuf.Duration;
import io.grpc.Channel;
import io.grpc.Context;
import io.grpc.StatusRuntimeException;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.CheckTokenRequest;
import io.lockkeeper.v1.CloseLeaseRequest;
import io.lockkeeper.v1.Granted;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LeaseServiceGrpc.LeaseServiceBlockingStub;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.LockServiceGrpc.LockServiceBlockingStub;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.OpenLeaseResponse;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.RenewLeaseRequest;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A tenant who works under its own names while others attack: it holds one lock the whole time, and
 * takes and gives back another one again and again. Whatever disturbs it is a finding.
 */
final class Witness implements AutoCloseable {

  /** A lock whose name the attackers know. */
  static final String KNOWN_LOCK = "tenant-b/known";

  private static final String HELD = "held";
  private static final Duration TTL = Duration.newBuilder().setSeconds(60).build();
  private static final long RENEWAL_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final int PATIENCE_SECONDS = 30;

  private final LockServiceBlockingStub locks;
  private final LeaseServiceBlockingStub leases;
  private final Findings findings;
  private final String mark;
  private final OpenLeaseResponse known;
  private final OpenLeaseResponse hidden;
  private final long heldToken;
  private final Thread thread = new Thread(this::work, "witness");
  private long lastToken;
  private volatile boolean stopped;
  private final AtomicLong rounds = new AtomicLong();

  private Witness(Channel channel, Findings findings, String mark) {
    this.locks = LockServiceGrpc.newBlockingStub(channel);
    this.leases = LeaseServiceGrpc.newBlockingStub(channel);
    this.findings = findings;
    this.mark = mark;
    this.known = openLease();
    this.hidden = openLease();
    this.heldToken = acquire(KNOWN_LOCK, HELD, known.getLeaseId()).getGrants(0).getFencingToken();
  }

  private OpenLeaseResponse openLease() {
    return leases()
        .openLease(OpenLeaseRequest.newBuilder().setTtl(TTL).setHolder("holder-" + mark).build());
  }

  /** Begins to work; {@code mark} is in all of its names that attackers must not be told. */
  static Witness start(FuzzedServer server, Findings findings, String mark) {
    Witness witness = new Witness(server.connectWitness(), findings, mark);
    findings.keepSecret(mark);
    // The tag of the other one is the beginning of its id, which attackers have and are echoed.
    findings.keepSecret(witness.hidden.getLeaseTag());
    witness.thread.start();
    return witness;
  }

  /** Returns the id of the lease under which the known lock is held, for attackers to steal. */
  String knownLeaseId() {
    return known.getLeaseId();
  }

  /** Returns how many times it took and gave back its other lock. */
  long rounds() {
    return rounds.get();
  }

  private LockServiceBlockingStub locks() {
    return locks.withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  private LeaseServiceBlockingStub leases() {
    return leases.withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  private Granted acquire(String lock, String requestId, String leaseId) {
    // The acquisition lives under its lease: what its stream would tell later is not waited for.
    try (Context.CancellableContext call = Context.current().withCancellation()) {
      Context before = call.attach();
      try {
        return awaitGrant(locks().acquire(request(lock, requestId, leaseId)));
      } finally {
        call.detach(before);
      }
    }
  }

  private static Granted awaitGrant(Iterator<AcquireResponse> events) {
    while (events.hasNext()) {
      AcquireResponse event = events.next();
      if (event.getEventCase() == EventCase.GRANTED) {
        return event.getGranted();
      }
    }
    throw new IllegalStateException("the lock was not granted");
  }

  private AcquireRequest request(String lock, String requestId, String leaseId) {
    return AcquireRequest.newBuilder()
        .addLocks(LockRequest.newBuilder().setName(lock))
        .setLeaseId(leaseId)
        .setRequestId(requestId)
        .setHolder("holder-" + mark)
        .putAllMetadata(Map.of("step", mark))
        .build();
  }

  private void work() {
    long renewedNanos = System.nanoTime();
    while (!stopped) {
      try {
        round();
        rounds.incrementAndGet();
        if (System.nanoTime() - renewedNanos > RENEWAL_NANOS) {
          renewedNanos = System.nanoTime();
          renew(known);
          renew(hidden);
          checkHeld();
        }
      } catch (StatusRuntimeException | IllegalStateException e) {
        findings.add("the witness was disturbed after " + rounds + " rounds: " + e);
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  private void renew(OpenLeaseResponse lease) {
    leases().renewLease(RenewLeaseRequest.newBuilder().setLeaseId(lease.getLeaseId()).build());
  }

  private void round() {
    String lock = "tenant-b/" + mark;
    String requestId = "round-" + System.nanoTime();
    long token = acquire(lock, requestId, hidden.getLeaseId()).getGrants(0).getFencingToken();
    if (token <= lastToken) {
      findings.add("the witness's token fell from " + lastToken + " to " + token);
    }
    lastToken = token;
    if (!isCurrent(lock, token)) {
      findings.add("the witness holds " + lock + " and its token is not current");
    }
    ReleaseOutcome outcome =
        locks()
            .release(
                ReleaseRequest.newBuilder()
                    .setLeaseId(hidden.getLeaseId())
                    .setRequestId(requestId)
                    .build())
            .getOutcome();
    if (outcome != ReleaseOutcome.RELEASE_OUTCOME_RELEASED) {
      findings.add("the witness's lock was gone before its release: " + outcome);
    }
  }

  private boolean isCurrent(String lock, long token) {
    return locks()
        .checkToken(CheckTokenRequest.newBuilder().setName(lock).setFencingToken(token).build())
        .getCurrent();
  }

  private void checkHeld() {
    if (!isCurrent(KNOWN_LOCK, heldToken)) {
      findings.add("the witness has lost " + KNOWN_LOCK);
    }
  }

  /** Looks once more, and works no longer. */
  @Override
  public void close() {
    stopped = true;
    try {
      thread.join();
      checkHeld();
      closeLease(known);
      closeLease(hidden);
    } catch (StatusRuntimeException e) {
      findings.add("the witness was disturbed at its end: " + e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void closeLease(OpenLeaseResponse lease) {
    leases().closeLease(CloseLeaseRequest.newBuilder().setLeaseId(lease.getLeaseId()).build());
  }
}
