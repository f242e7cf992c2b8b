package io.lockkeeper.spring.integration;

import io.lockkeeper.client.LeaderElection;
import io.lockkeeper.client.Leadership;
import io.lockkeeper.client.LockkeeperClient;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationEventPublisherAware;
import org.springframework.context.SmartLifecycle;
import org.springframework.integration.leader.Candidate;
import org.springframework.integration.leader.event.DefaultLeaderEventPublisher;

/**
 * Leads for a {@link Candidate} of Spring Integration: while the application runs, it stands for
 * election, and tells the candidate, and the application by events, when it is elected and when
 * that is over. The role is the lock's name, and the candidate's id is what other candidates see.
 *
 * <p>All calls are made by one thread of its own. {@link Candidate#onGranted} may return or lead
 * until it is interrupted, which it is when the leadership is lost, yielded, or the application
 * stops. {@link Candidate#onRevoked} is called before the lock is released or, after a loss, as
 * soon as that is known: so check {@link LeaderContext#isLeader} before each step, and hand on
 * {@link LeaderContext#fencingToken}. {@code yield} steps down and returns to the end of the queue.
 *
 * <p>While no coordinator can be reached, it tries again. What a coordinator refuses for good, and
 * what the candidate throws, is logged and told by the event that it failed to acquire; after 10
 * seconds it stands again.
 */
public final class LockkeeperLeaderInitiator
    implements SmartLifecycle, ApplicationEventPublisherAware {

  private static final Logger LOG = LoggerFactory.getLogger(LockkeeperLeaderInitiator.class);
  private static final Duration PAUSE = Duration.ofSeconds(10);
  private static final Duration SHORT = Duration.ofSeconds(5);
  private static final Duration SHORT_PAUSE = Duration.ofSeconds(1);
  private static final Duration STOP_LIMIT = Duration.ofSeconds(30);

  private final LeaderElection election;
  private final Candidate candidate;
  private final DefaultLeaderEventPublisher events = new DefaultLeaderEventPublisher();
  private volatile @Nullable Campaign campaign;

  /**
   * Makes one that stands for election once it is started, as the application does.
   *
   * @param candidate its role is the name of a lock, and its id up to 4,000 bytes
   * @throws IllegalArgumentException if the role is no name of a lock
   */
  public LockkeeperLeaderInitiator(LockkeeperClient client, Candidate candidate) {
    this.election = client.asElection(candidate.getRole());
    this.candidate = candidate;
  }

  @Override
  public void setApplicationEventPublisher(ApplicationEventPublisher publisher) {
    events.setApplicationEventPublisher(publisher);
  }

  /** Begins to stand for election; without effect if it does. */
  @Override
  public synchronized void start() {
    if (!isRunning()) {
      Campaign begun = new Campaign();
      campaign = begun;
      begun.thread.start();
    }
  }

  /** Steps down, and returns when the candidate has been told, after 30 seconds at most. */
  @Override
  public void stop() {
    Campaign ending;
    synchronized (this) {
      ending = campaign;
      campaign = null;
    }
    if (ending != null) {
      ending.end();
    }
  }

  /** Returns whether it stands for election or leads: not after the client was closed. */
  @Override
  public boolean isRunning() {
    Campaign now = campaign;
    return now != null && now.thread.isAlive();
  }

  private void publish(Runnable event) {
    try {
      event.run();
    } catch (RuntimeException e) {
      LOG.atWarn()
          .addKeyValue("lock", candidate.getRole())
          .setCause(e)
          .log("A listener of leader events failed");
    }
  }

  /** From a start to the next stop. */
  private final class Campaign {
    private final Thread thread = new Thread(this::run, "lockkeeper-leader-" + candidate.getRole());
    private volatile boolean ended;
    private volatile @Nullable Term term;

    Campaign() {
      thread.setDaemon(true);
    }

    void end() {
      ended = true;
      Term leading = term;
      if (leading != null) {
        leading.end();
      }
      if (thread == Thread.currentThread()) {
        return;
      }
      long deadlineNanos = System.nanoTime() + STOP_LIMIT.toNanos();
      try {
        while (thread.isAlive() && System.nanoTime() < deadlineNanos) {
          if (term == null) {
            thread.interrupt(); // Again and again: one may be taken for that of a loss.
          }
          thread.join(100);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private void run() {
      AtomicInteger terms = new AtomicInteger();
      int before = -1;
      // An election that returns without a term has no client any more.
      while (!ended && terms.get() > before) {
        before = terms.get();
        long beganNanos = System.nanoTime();
        try {
          election.run(
              candidate.getId(),
              leadership -> {
                terms.incrementAndGet();
                lead(leadership);
              });
        } catch (InterruptedException e) {
          // Either it ends, or an interrupt of the candidate's has cost the leadership.
          LOG.atDebug().addKeyValue("lock", candidate.getRole()).log("{}", e.getMessage());
          before--;
        } catch (RuntimeException | Error e) {
          failed(e);
          before--;
        }
        if (System.nanoTime() - beganNanos < SHORT.toNanos()) {
          pause(SHORT_PAUSE); // Who steps down at once must not storm the servers.
        }
      }
    }

    private void lead(Leadership leadership) throws InterruptedException {
      Term begun = new Term(leadership);
      term = begun;
      try {
        if (!ended) { // Seen by end, or sees it.
          begun.lead();
        }
      } finally {
        term = null;
      }
    }

    private void failed(Throwable failure) {
      LOG.atWarn().addKeyValue("lock", candidate.getRole()).setCause(failure).log("Does not lead");
      publish(
          () ->
              events.publishOnFailedToAcquire(
                  LockkeeperLeaderInitiator.this, NoLeader.CONTEXT, candidate.getRole()));
      pause(PAUSE);
    }

    private void pause(Duration time) {
      if (!ended) {
        try {
          TimeUnit.NANOSECONDS.sleep(time.toNanos());
        } catch (InterruptedException e) {
          LOG.atTrace().log("Interrupted while pausing: {}", e.getMessage()); // It ends.
        }
      }
    }
  }

  /** Of who was not elected. */
  private enum NoLeader implements LeaderContext {
    CONTEXT;

    @Override
    public boolean isLeader() {
      return false;
    }

    @Override
    public long fencingToken() {
      throw new IllegalStateException("not elected");
    }
  }

  /** From one election to its end. */
  private final class Term implements LeaderContext {
    private final Leadership leadership;
    private final Thread thread = Thread.currentThread();
    private final CountDownLatch over = new CountDownLatch(1);
    private boolean revoking;

    Term(Leadership leadership) {
      this.leadership = leadership;
    }

    void lead() throws InterruptedException {
      CompletionStage<Void> unused = leadership.lost().thenRun(over::countDown);
      try {
        publish(() -> events.publishOnGranted(LockkeeperLeaderInitiator.this, this, getRole()));
        candidate.onGranted(this);
        over.await();
      } finally {
        boolean interrupted = beginRevoking();
        try {
          candidate.onRevoked(this);
        } finally {
          publish(() -> events.publishOnRevoked(LockkeeperLeaderInitiator.this, this, getRole()));
          if (interrupted) {
            Thread.currentThread().interrupt();
          }
        }
      }
    }

    /** What the candidate does to clean up must not end at once because of an interrupt. */
    private synchronized boolean beginRevoking() {
      over.countDown();
      revoking = true;
      return Thread.interrupted();
    }

    /** Ends the candidate's leading, also where it does so within its method. */
    synchronized void end() {
      over.countDown();
      if (!revoking && thread != Thread.currentThread()) {
        thread.interrupt();
      }
    }

    @Override
    public boolean isLeader() {
      return over.getCount() > 0 && leadership.isValid();
    }

    @Override
    public void yield() {
      end();
    }

    @Override
    public String getRole() {
      return candidate.getRole();
    }

    @Override
    public long fencingToken() {
      return leadership.fencingToken();
    }

    @Override
    public String toString() {
      return "Term[" + getRole() + ", token " + fencingToken() + "]";
    }
  }
}
