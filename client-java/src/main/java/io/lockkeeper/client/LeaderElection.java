package io.lockkeeper.client;

import io.lockkeeper.client.internal.loop.Backoff;
import io.lockkeeper.client.internal.protocol.Limits;
import io.lockkeeper.client.internal.runtime.LeaderWatch;
import io.lockkeeper.client.internal.views.DerivedFutures;
import io.lockkeeper.client.internal.views.LockedTasks;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

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
   * @throws InterruptedException if interrupted; the candidate withdraws, as {@link
   *     LockkeeperClient#lock(String)} says
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

  /**
   * Leads whenever this candidate is elected, until the task is done: waits to be elected, and runs
   * the task in the calling thread. When the leadership is lost, the thread is interrupted, and
   * after the task has ended, the candidate returns to the queue. An interrupt of its own does not
   * outlive the task. So at any time at most one run of the task is under way.
   *
   * <p>Returns when the task has returned while it led, or when the client is closed. What the task
   * throws while it leads is thrown, and the candidate has resigned. While no server can be
   * reached, it tries again, after a growing pause.
   *
   * <pre>{@code
   * election.run(
   *     "http://10.0.0.7:8080",
   *     leadership -> {
   *       while (!stopped) {
   *         step(leadership.fencingToken());
   *       }
   *     });
   * }</pre>
   *
   * @param value what others shall know about this candidate: up to 4,000 bytes of UTF-8
   * @throws InterruptedException if interrupted while the candidate waits; it withdraws
   * @throws NotAcquiredException if the queue is full
   * @throws RequestRefusedException if the server refuses the candidate for good
   * @throws IllegalArgumentException if the value is too long
   */
  public <X extends Exception> void run(String value, LeaderTask<X> task)
      throws X, InterruptedException {
    Backoff backoff = new Backoff(new SplittableRandom());
    int failures = 0;
    while (!client.isClosed()) {
      Optional<Leadership> elected = tryCampaign(value);
      if (elected.isEmpty()) {
        failures++;
        TimeUnit.NANOSECONDS.sleep(backoff.nanosAfter(failures));
        continue;
      }
      failures = 0;
      if (lead(elected.get(), task)) {
        return;
      }
    }
  }

  /** Waits until this candidate is elected; empty: it must ask again. */
  private Optional<Leadership> tryCampaign(String value) throws InterruptedException {
    try {
      return Optional.of(campaign(value));
    } catch (LeaseLostException | ServerUnavailableException e) {
      return Optional.empty();
    } catch (NotAcquiredException e) {
      if (e.reason() == NotAcquiredReason.REMOVED) {
        return Optional.empty();
      }
      throw e;
    } catch (LockkeeperException | IllegalStateException e) {
      if (client.isClosed()) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /** Returns whether the task has returned while it led; false: the leadership was lost. */
  private <X extends Exception> boolean lead(Leadership leadership, LeaderTask<X> task) throws X {
    LockedTask<Boolean, X> leading =
        lock -> {
          task.lead(leadership);
          return true;
        };
    try {
      return LockedTasks.run(leadership.handle(), leading);
    } catch (LockLostException e) {
      if (e.lock().equals(name)) {
        return false;
      }
      throw e; // Another lock of the task's.
    }
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
   * Returns who leads now, as a server sees it; empty: nobody, or somebody whose fencing token the
   * server does not know. Completes on the callback executor, exceptionally with the errors of
   * {@link LockkeeperClient#getLock(String)}.
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
