package io.lockkeeper.client;

import io.lockkeeper.client.internal.loop.Backoff;
import io.lockkeeper.client.internal.protocol.Limits;
import io.lockkeeper.client.internal.protocol.LockNames;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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

  private static final Logger LOG = LoggerFactory.getLogger(LeaderElection.class);

  /** After shorter terms there is a pause, which grows. */
  private static final Duration SHORT_TERM = Duration.ofSeconds(5);

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
   * after the task has ended, the candidate returns to the queue. That interrupt does not outlive
   * the task. So at any time at most one run of the task is under way.
   *
   * <p>Returns when the task has returned without having lost the leadership. That is so, too, if
   * the task has resigned: {@link Leadership#resign} ends the term at once, the next candidate
   * leads, and whoever wants to lead again calls this again. What the task throws while it leads is
   * thrown, and the candidate has resigned. What it throws when it has lost the leadership is
   * logged as a warning, unless it is the interrupt, and the candidate returns to the queue.
   *
   * <p>To stop it, interrupt the thread until it has ended: the candidate withdraws or resigns,
   * which takes a second at most, and which a second interrupt cuts short. One is not always
   * enough: a thread does not know who has interrupted it, so one that comes together with the loss
   * of the leadership may be taken for that of the loss, and the candidate returns to the queue. It
   * also returns, after a pause at most, when the client is closed. While no server can be reached,
   * which is logged once as a warning, and after terms of a few seconds, it tries again after a
   * growing pause; a server that is overloaded says how long to wait.
   *
   * <pre>{@code
   * election.run(
   *     "http://10.0.0.7:8080",
   *     leadership -> {
   *       while (!stopped && leadership.isValid()) {
   *         step(leadership.fencingToken());
   *       }
   *     });
   * }</pre>
   *
   * <p>and, to stop the thread that calls it:
   *
   * <pre>{@code
   * stopped = true;
   * do {
   *   thread.interrupt();
   *   thread.join(2_000);
   * } while (thread.isAlive());
   * }</pre>
   *
   * @param value what others shall know about this candidate: up to 4,000 bytes of UTF-8
   * @throws InterruptedException if the caller is interrupted while the candidate waits, and it
   *     withdraws; or if it was while the task ran, and the leadership was lost
   * @throws NotAcquiredException if the queue is full
   * @throws RequestRefusedException if the server refuses the candidate for good
   * @throws IllegalArgumentException if the value is too long
   */
  public <X extends Exception> void run(String value, LeaderTask<X> task)
      throws X, InterruptedException {
    run(value, LeadershipListener.NONE, task);
  }

  /**
   * Like {@link #run(String, LeaderTask)}, and tells the listener what happens in each term: that
   * others ask the leader to resign, or that it is about to lose the leadership.
   */
  public <X extends Exception> void run(
      String value, LeadershipListener listener, LeaderTask<X> task)
      throws X, InterruptedException {
    Backoff backoff = new Backoff(new SplittableRandom());
    int failures = 0;
    boolean outage = false;
    while (!client.isClosed()) {
      Attempt attempt = attempt(value, listener);
      if (attempt.elected().isPresent()) {
        long beganNanos = System.nanoTime();
        if (lead(attempt.elected().get(), task)) {
          return;
        }
        if (Thread.interrupted()) {
          throw new InterruptedException(
              LockNames.quoted(name) + ": interrupted while leading, and the leadership is lost");
        }
        // Whoever is deposed again and again at once must not storm the servers.
        failures = System.nanoTime() - beganNanos < SHORT_TERM.toNanos() ? failures + 1 : 0;
      } else {
        failures++;
      }
      if (attempt.isOutage() && !outage) {
        LOG.atWarn().setCause(attempt.failure().orElseThrow()).log("No leader can be elected now");
      }
      outage = attempt.isOutage();
      long pauseNanos = backoff.nanosAfter(failures);
      long atLeastNanos = backoff.withJitter(attempt.retryAfter().toNanos());
      TimeUnit.NANOSECONDS.sleep(Math.max(pauseNanos, atLeastNanos));
    }
  }

  /** Elected, or to be tried again; no failure: the client is closed. */
  private record Attempt(Optional<Leadership> elected, Optional<LockkeeperException> failure) {

    static Attempt failed(LockkeeperException failure) {
      return new Attempt(Optional.empty(), Optional.of(failure));
    }

    boolean isOutage() {
      return failure.filter(ServerUnavailableException.class::isInstance).isPresent();
    }

    Duration retryAfter() {
      return failure
          .filter(RequestRefusedException.class::isInstance)
          .flatMap(refused -> ((RequestRefusedException) refused).retryAfter())
          .orElse(Duration.ZERO);
    }
  }

  /** Waits until this candidate is elected, or must ask again. */
  private Attempt attempt(String value, LeadershipListener listener) throws InterruptedException {
    try {
      return new Attempt(Optional.of(campaign(value, listener)), Optional.empty());
    } catch (LockkeeperException | IllegalStateException e) {
      if (client.isClosed()) {
        return new Attempt(Optional.empty(), Optional.empty());
      }
      if (e instanceof LockkeeperException failure && mayAskAgain(failure)) {
        return Attempt.failed(failure);
      }
      throw e;
    }
  }

  private static boolean mayAskAgain(LockkeeperException failure) {
    if (failure instanceof NotAcquiredException not) {
      return not.reason() == NotAcquiredReason.REMOVED;
    }
    if (failure instanceof RequestRefusedException refused) {
      return refused.retryAfter().isPresent();
    }
    return failure instanceof LeaseLostException || failure instanceof ServerUnavailableException;
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
      if (!e.lock().equals(name)) {
        throw e; // Another lock of the task's.
      }
      for (Throwable failure : e.getSuppressed()) {
        if (!(failure instanceof InterruptedException)) {
          LOG.atWarn()
              .addKeyValue("lock", name)
              .setCause(failure)
              .log("The task of a leader failed that has lost the leadership: {}", e.reason());
        }
      }
      return false;
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
    LeaderWatch leaders = new LeaderWatch(observer, () -> client.async().getLock(name));
    Watch watch = client.watchLocks(List.of(name), leaders);
    return () -> {
      leaders.close();
      watch.close();
    };
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
