package io.lockkeeper.integration.fuzz;

import com.google.protobuf.Duration;
import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.lockkeeper.integration.fuzz.Callers.Caller;
import io.lockkeeper.integration.harness.Inside;
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
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A tenant who works under its own names while others attack: it holds one lock the whole time, and
 * takes and gives back another one again and again, which all witnesses want. It asks one
 * coordinator, and the lease of the lock that it keeps was opened at the other one. Whatever
 * disturbs it is a finding.
 */
final class Witness implements AutoCloseable {

  /** What the names of the witnesses' locks begin with. */
  static final String TENANT = "tenant-b/";

  /** A lock whose name the attackers know. */
  static final String KNOWN_LOCK = TENANT + "known";

  private static final String HELD = "held";
  private static final Duration TTL = Duration.newBuilder().setSeconds(60).build();
  private static final long RENEWAL_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final int PATIENCE_SECONDS = 30;

  private final List<ManagedChannel> channels;
  private final LockServiceBlockingStub locks;
  private final LeaseServiceBlockingStub leases;
  private final Findings findings;
  private final Inside inside;
  private final String mark;
  private final String kept;
  private final OpenLeaseResponse known;
  private final OpenLeaseResponse hidden;
  private final long heldToken;
  private final Thread thread = new Thread(this::work, "witness");
  private volatile boolean stopped;
  private final AtomicLong rounds = new AtomicLong();

  private Witness(
      ManagedChannel home,
      ManagedChannel other,
      String kept,
      Findings findings,
      Inside inside,
      String mark) {
    this.channels = List.of(home, other);
    this.locks = LockServiceGrpc.newBlockingStub(home);
    this.leases = LeaseServiceGrpc.newBlockingStub(home);
    this.findings = findings;
    this.inside = inside;
    this.mark = mark;
    this.kept = kept;
    this.known = openLease(LeaseServiceGrpc.newBlockingStub(other));
    this.hidden = openLease(leases);
    this.heldToken = acquire(kept, HELD, known.getLeaseId()).getGrants(0).getFencingToken();
  }

  private OpenLeaseResponse openLease(LeaseServiceBlockingStub at) {
    return at.withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS)
        .openLease(OpenLeaseRequest.newBuilder().setTtl(TTL).setHolder("holder-" + mark).build());
  }

  /**
   * Begins to work at a coordinator.
   *
   * @param inside the witnesses that exclude each other
   * @param mark in all of its names that attackers must not be told
   */
  static Witness start(
      FuzzedCluster cluster, int home, Findings findings, Inside inside, String mark) {
    Witness witness =
        new Witness(
            cluster.connect(Caller.WITNESS, home),
            cluster.connect(Caller.WITNESS, (home + 1) % FuzzedCluster.SIZE),
            home == 0 ? KNOWN_LOCK : TENANT + "kept",
            findings,
            inside,
            mark);
    findings.keepSecret(mark);
    // The tag of the other one is the beginning of its id, which attackers have and are echoed.
    findings.keepSecret(witness.hidden.getLeaseTag());
    findings.keepToItsOwner(witness.hidden.getLeaseId());
    findings.keepToItsOwner(witness.hidden.getLeaseSecret());
    findings.keepToItsOwner(witness.known.getLeaseSecret());
    witness.thread.start();
    return witness;
  }

  /** Returns the tags of its leases. */
  List<String> leaseTags() {
    return List.of(known.getLeaseTag(), hidden.getLeaseTag());
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
        findings.addDisturbance("the witness was disturbed after " + rounds + " rounds: " + e);
      } catch (AssertionError e) {
        findings.add("two witnesses held a lock at once: " + e);
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  private void renew(OpenLeaseResponse lease) {
    leases().renewLease(RenewLeaseRequest.newBuilder().setLeaseId(lease.getLeaseId()).build());
  }

  private void round() {
    String lock = TENANT + mark;
    String requestId = "round-" + System.nanoTime();
    long token = acquire(lock, requestId, hidden.getLeaseId()).getGrants(0).getFencingToken();
    inside.enter(lock, false, token);
    if (!isCurrent(lock, token)) {
      findings.addDisturbance("the witness holds " + lock + " and its token is not current");
    }
    inside.leave(lock, false);
    ReleaseOutcome outcome =
        locks()
            .release(
                ReleaseRequest.newBuilder()
                    .setLeaseId(hidden.getLeaseId())
                    .setRequestId(requestId)
                    .build())
            .getOutcome();
    if (outcome != ReleaseOutcome.RELEASE_OUTCOME_RELEASED) {
      findings.addDisturbance("the witness's lock was gone before its release: " + outcome);
    }
  }

  private boolean isCurrent(String lock, long token) {
    return locks()
        .checkToken(CheckTokenRequest.newBuilder().setName(lock).setFencingToken(token).build())
        .getCurrent();
  }

  private void checkHeld() {
    if (!isCurrent(kept, heldToken)) {
      findings.addDisturbance("the witness has lost " + kept);
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
      findings.addDisturbance("the witness was disturbed at its end: " + e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      channels.forEach(ManagedChannel::shutdownNow);
    }
  }

  private void closeLease(OpenLeaseResponse lease) {
    leases().closeLease(CloseLeaseRequest.newBuilder().setLeaseId(lease.getLeaseId()).build());
  }
}
