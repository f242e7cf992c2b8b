package io.lockkeeper.client;

import io.lockkeeper.client.internal.protocol.Limits;
import io.lockkeeper.client.internal.runtime.LeaderWatch;
import io.lockkeeper.client.internal.views.DerivedFutures;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Elects one leader among candidates: the holder of an exclusive lock leads, and its metadata says
 * what others shall know about it. Made by {@link LockkeeperClient#asElection}; may be used by any
 * thread.
 *
 * <pre>{@code
 * LeaderElection election = client.asElection("reports/leader");
 * try (Leadership leadership = election.campaign("http://10.0.0.7:8080")) {
 *   while (leadership.isValid()) {
 *     step(leadership.fencingToken());
 *   }
 * }
 * }</pre>
 *
 * <p>Candidates lead in the order in which they came. Each campaign is a separate candidate, even
 * within one client.
 */
public final class LeaderElection {

  private final LockkeeperClient client;
  private final String name;

  LeaderElection(LockkeeperClient client, String name) {
    this.client = client;
    this.name = LockSpec.exclusive(name).name();
  }

  /**
   * Waits until this candidate is elected. Errors are those of {@link
   * LockkeeperClient#lock(LockRequest)}.
   *
   * @param value what others shall know about this candidate: up to 4,000 bytes of UTF-8
   * @throws InterruptedException if interrupted; the candidate has withdrawn
   * @throws IllegalArgumentException if the value is too long
   */
  public Leadership campaign(String value) throws InterruptedException {
    return campaign(value, LeadershipListener.NONE);
  }

  /** Like {@link #campaign(String)}, and tells the listener what happens. */
  public Leadership campaign(String value, LeadershipListener listener)
      throws InterruptedException {
    Candidate candidate = new Candidate(listener);
    return candidate.leadership(client.lock(request(value, candidate)));
  }

  /** Like {@link #campaign(String)}, without waiting: see the variant with a listener. */
  public CompletableFuture<Leadership> campaignAsync(String value) {
    return campaignAsync(value, LeadershipListener.NONE);
  }

  /**
   * Like {@link #campaign(String, LeadershipListener)}, without waiting. Cancelling the future
   * withdraws the candidate. Completes as {@link LockkeeperClient#acquire} does.
   *
   * @throws IllegalArgumentException if the value is too long
   */
  public CompletableFuture<Leadership> campaignAsync(String value, LeadershipListener listener) {
    Candidate candidate = new Candidate(listener);
    return DerivedFutures.map(client.acquire(request(value, candidate)), candidate::leadership);
  }

  /** Candidates do not wait for each other's work: no search for cycles of waits. */
  private LockRequest request(String value, LockListener candidate) {
    return LockRequest.of(name)
        .metadata(LeaderWatch.VALUE, Limits.leaderValue(value))
        .listener(candidate)
        .skipDeadlockCheck();
  }

  /**
   * Returns who leads now, as a server sees it; empty: nobody. Completes on the callback executor,
   * exceptionally with the errors of {@link LockkeeperClient#getLock}.
   */
  public CompletionStage<Optional<Leader>> leader() {
    return client.async().getLock(name).thenApply(lock -> LeaderWatch.leader(lock.holders()));
  }

  /**
   * Tells who leads, first as it is and then whenever that changes, until the watch is closed. See
   * {@link LockkeeperClient#watch} for what happens when the connection breaks.
   */
  public Watch observe(LeaderObserver observer) {
    return client.watchLocks(
        List.of(name), new LeaderWatch(observer, () -> client.async().getLock(name)));
  }

  @Override
  public String toString() {
    return "LeaderElection[" + name + "]";
  }

  /** Tells a candidate's listener what happens to its lock. One call at a time. */
  private static final class Candidate implements LockListener {
    private final LeadershipListener listener;
    private final CompletableFuture<Leadership> elected = new CompletableFuture<>();

    Candidate(LeadershipListener listener) {
      this.listener = listener;
    }

    /** Returns the leadership, the same one every time. */
    Leadership leadership(LockHandle handle) {
      elected.complete(new Leadership(handle));
      return elected.join();
    }

    @Override
    public void onGranted(LockHandle handle) {
      listener.onElected(leadership(handle));
    }

    @Override
    public void onReleaseRequested(LockHandle handle, ReleaseRequest request) {
      listener.onAskedToResign(leadership(handle), request);
    }

    @Override
    public void onJeopardy(LockHandle handle, Duration validFor) {
      listener.onAboutToLose(leadership(handle), validFor);
    }

    @Override
    public void onAboutToExpire(LockHandle handle, Duration remaining) {
      listener.onAboutToLose(leadership(handle), remaining);
    }

    @Override
    public void onSafe(LockHandle handle, Duration validFor) {
      listener.onSafe(leadership(handle));
    }

    @Override
    public void onLost(LockHandle handle, LossReason reason) {
      listener.onLost(leadership(handle), reason);
    }
  }
}
