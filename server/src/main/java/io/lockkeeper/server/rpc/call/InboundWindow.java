package io.lockkeeper.server.rpc.call;

import io.grpc.stub.ServerCallStreamObserver;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Lets a client send its next request only while few of its requests are unanswered and it reads
 * what it is sent. A client that sends faster is slowed down by HTTP/2's own flow control, and
 * costs nobody else anything.
 */
public final class InboundWindow {

  private final ServerCallStreamObserver<?> call;
  private final OutboundStream<?> out;
  private final int maxUnanswered;
  private final Access access;
  private final ScheduledExecutorService timer;
  private final AtomicInteger unanswered = new AtomicInteger();
  private final AtomicBoolean asked = new AtomicBoolean();
  private final Set<String> acquisitions = ConcurrentHashMap.newKeySet();
  private volatile int allowed = 1;
  private volatile boolean senderDone;

  /**
   * Stops gRPC from reading ahead. Must be called before the service method returns.
   *
   * @param access says how long to pause
   * @param timer for pauses
   */
  public InboundWindow(
      ServerCallStreamObserver<?> call,
      OutboundStream<?> out,
      int maxUnanswered,
      Access access,
      ScheduledExecutorService timer) {
    this.access = access;
    this.timer = timer;
    this.call = call;
    this.out = out;
    this.maxUnanswered = maxUnanswered;
    call.disableAutoRequest();
  }

  /** Opens the window: until now, one unanswered request was allowed. */
  public void open() {
    allowed = maxUnanswered;
  }

  /** Asks for the next request if the window is open and none has been asked for. */
  public void readNext() {
    boolean open = unanswered.get() < allowed && out.hasRoom() && !senderDone;
    if (open && asked.compareAndSet(false, true)) {
      call.request(1);
    }
  }

  /**
   * Notes that a request came that will be answered. Until {@link #handled}, no other will be asked
   * for.
   */
  public void received() {
    received(1);
  }

  /** Notes that so many requests came that will be answered. */
  public void received(int requests) {
    unanswered.addAndGet(requests);
  }

  /** Says that the request has been handed on. After one above the limit, reading pauses. */
  public void handled() {
    long pause = access.takePauseNanos();
    if (pause == 0) {
      readOn();
    } else {
      var unused = timer.schedule(this::readOn, pause, TimeUnit.NANOSECONDS);
    }
  }

  private void readOn() {
    asked.set(false);
    readNext();
  }

  /** Says that a request has its answer. */
  public void answered() {
    unanswered.decrementAndGet();
    readNext();
    completeIfDone();
  }

  /** Says that the answer to the request just received is the first word about an acquisition. */
  public void awaits(String requestId) {
    if (!acquisitions.add(requestId)) {
      // Sent again before the first was answered: one word answers both.
      answered();
    }
  }

  /** Says that there was word about an acquisition. */
  public void heardOf(String requestId) {
    if (acquisitions.remove(requestId)) {
      answered();
    }
  }

  /** Says that the client sends no more: the stream completes when all is answered. */
  public void senderIsDone() {
    senderDone = true;
    completeIfDone();
  }

  private void completeIfDone() {
    if (senderDone && unanswered.get() == 0) {
      out.complete();
    }
  }
}
