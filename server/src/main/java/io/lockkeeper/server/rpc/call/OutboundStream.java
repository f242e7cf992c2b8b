package io.lockkeeper.server.rpc.call;

import com.google.protobuf.MessageLite;
import io.grpc.stub.ServerCallStreamObserver;
import io.lockkeeper.server.coordinator.serial.OncePerBatch;
import io.lockkeeper.server.rpc.wire.EventTopic;
import io.lockkeeper.server.rpc.wire.Refusal;
import io.lockkeeper.server.rpc.wire.Statuses;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a stream sends, kept in a bounded queue while the client reads slowly, and sent at the end
 * of the batch that brings it. Any thread may send; nothing here blocks, takes a lock or throws.
 * gRPC's own {@code onNext} would buffer without bound, and is not thread-safe: whoever finds
 * nobody at work drains for all.
 *
 * <p>A stream whose queue overflows, or that is read slowly while too much waits on all streams,
 * ends with RESOURCE_EXHAUSTED: the client can resume and hears what is true then.
 *
 * <p>Events that other clients can cause any number of times have a topic. Of each topic only the
 * newest event waits, and only in the first half of the queue, so that they never make it overflow.
 */
public final class OutboundStream<T extends MessageLite> {

  private static final Logger LOG = LoggerFactory.getLogger(OutboundStream.class);

  private static final int PACK_MESSAGES = 256;
  private static final int PACK_BYTES = 32 * 1024;

  /** How often {@link #beat} finds nothing sent before it sends a heartbeat. */
  static final int QUIET_BEATS = 10;

  /** What a message that waits costs in memory besides its bytes. */
  private static final int MESSAGE_BYTES = 128;

  private final ServerCallStreamObserver<T> call;
  private final int maxMessages;
  private final long maxBytes;
  private final CallBudgets budgets;
  private final Queue<Waiting<T>> queue = new ConcurrentLinkedQueue<>();
  private final Map<EventTopic, Waiting<T>> newest = new ConcurrentHashMap<>();
  private final AtomicInteger replaced = new AtomicInteger();
  private final AtomicInteger messages = new AtomicInteger();
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicInteger work = new AtomicInteger();
  private final AtomicInteger quietBeats = new AtomicInteger();
  private final OncePerBatch drainSoon = new OncePerBatch(this::drainLast);
  private final AtomicBoolean ended = new AtomicBoolean();
  private volatile Optional<Ending> ending = Optional.empty();
  private volatile boolean corked;
  private volatile boolean starved;
  private volatile Optional<T> first = Optional.empty();
  private volatile Optional<Packing<T>> packing = Optional.empty();
  private volatile Runnable onRoom = () -> {};
  private volatile Runnable onEnd = () -> {};
  // Only whoever drains touches it.
  private boolean finished;

  /** How several messages are put into one. */
  @FunctionalInterface
  public interface Packing<T> {
    /** Returns a message that stands for {@code parts}, of which there are two or more. */
    T pack(List<T> parts);
  }

  /** A place in the queue. It is empty once its message was sent or replaced. */
  private static final class Waiting<T> extends AtomicReference<@Nullable T> {
    private static final long serialVersionUID = 1L;
    private final transient Optional<EventTopic> topic;

    Waiting(T message, Optional<EventTopic> topic) {
      super(message);
      this.topic = topic;
    }
  }

  /** How the stream ends: after what waits, or at once. */
  private record Ending(boolean afterQueue, boolean cancelled, Optional<Refusal> refusal) {}

  /**
   * Takes over {@code call}. Must be called before the service method returns: gRPC takes handlers
   * only until then.
   */
  public OutboundStream(ServerCallStreamObserver<T> call, int maxMessages, int maxBytes) {
    this.call = call;
    this.maxMessages = maxMessages;
    this.maxBytes = maxBytes;
    this.budgets = CallEnd.current().map(CallEnd::budgets).orElseGet(CallBudgets::unlimited);
    call.setOnReadyHandler(this::drain);
    Runnable gone = () -> end(new Ending(false, true, Optional.empty()));
    // Without a handler, gRPC throws CANCELLED out of onNext, into the coordinator's loop.
    call.setOnCancelHandler(gone);
    // Others end calls too: for what is no message, comes too late, or is too much.
    call.setOnCloseHandler(gone);
  }

  /**
   * Says what to do once when the stream is over, however it came to be. Set before anything is
   * sent.
   */
  public void onEnd(Runnable action) {
    onEnd = action;
  }

  /**
   * Says what to do when there is room again after {@link #isReady} or {@link #hasRoom} said that
   * there was none.
   */
  public void onRoom(Runnable action) {
    onRoom = action;
  }

  /** Puts messages that wait together into one, from now on. */
  public void pack(Packing<T> how) {
    packing = Optional.of(how);
  }

  /** Keeps everything back until {@link #startWith}. Called before anything is sent. */
  public void cork() {
    corked = true;
  }

  /** Sends {@code message} before everything that was kept back, and lets it go. */
  public void startWith(T message) {
    first = Optional.of(message);
    corked = false;
    drain();
  }

  /** Sends a message, unless the stream has ended. */
  public void send(Supplier<T> message) {
    send(Optional.empty(), message);
  }

  /**
   * Sends a message, unless the stream has ended. With a topic, it replaces the message of the same
   * topic that still waits. If none waits, it is dropped while the queue is more than half full.
   */
  public void send(Optional<EventTopic> topic, Supplier<T> message) {
    if (isEnded()) {
      return;
    }
    try {
      T next = message.get();
      if (topic.isEmpty() || removeOlder(topic.get(), next) || isHalfEmpty()) {
        enqueue(next, topic);
      }
    } catch (RuntimeException e) {
      fail(Statuses.of(e));
    }
  }

  /**
   * Removes the message of a topic that still waits, if {@code next} takes no more bytes or there
   * is room. Returns whether it did. The place of the older message is not reused: the events of an
   * acquisition are sent in the order of their sequence numbers.
   */
  private boolean removeOlder(EventTopic topic, T next) {
    Waiting<T> waiting = newest.get(topic);
    T older = waiting == null ? null : waiting.get();
    if (waiting == null
        || older == null
        || (next.getSerializedSize() > older.getSerializedSize() && !isHalfEmpty())
        || !waiting.compareAndSet(older, null)) {
      return false;
    }
    newest.remove(topic, waiting);
    release(older);
    // Its place stays in the queue: to find and remove each by itself would take too long.
    if (replaced.incrementAndGet() > maxMessages) {
      replaced.set(0);
      queue.removeIf(place -> place.get() == null);
    }
    return true;
  }

  private void enqueue(T message, Optional<EventTopic> topic) {
    boolean fits =
        messages.incrementAndGet() <= maxMessages
            && bytes.addAndGet(message.getSerializedSize()) <= maxBytes;
    if (!fits) {
      fail(Statuses.overflow());
      return;
    }
    if (!budgets.unread().hold(costOf(message)) && isReadSlowly()) {
      budgets.unread().release(costOf(message));
      budgets.refusals().count(Limit.UNREAD_BYTES);
      fail(Statuses.overflow());
      return;
    }
    // No other thread needs to see it at once.
    quietBeats.setPlain(0);
    Waiting<T> waiting = new Waiting<>(message, topic);
    topic.ifPresent(about -> newest.put(about, waiting));
    queue.add(waiting);
    drainSoon.soon();
  }

  /**
   * Sends a heartbeat if nothing was sent for {@link #QUIET_BEATS} calls, which come once a second.
   * While the client reads slowly, none is added to what waits for it.
   */
  public void beat(Supplier<T> heartbeat) {
    if (quietBeats.incrementAndGet() >= QUIET_BEATS && queue.isEmpty() && call.isReady()) {
      send(heartbeat);
    }
  }

  /** Where too much waits in all, those pay for whom it waits. */
  private boolean isReadSlowly() {
    return !queue.isEmpty() && !call.isReady();
  }

  private long costOf(T message) {
    return (long) message.getSerializedSize() + MESSAGE_BYTES;
  }

  private void discard() {
    T message;
    do {
      message = next();
    } while (message != null);
  }

  /** Ends the stream well, after all that was sent before. */
  public void complete() {
    end(new Ending(true, false, Optional.empty()));
  }

  /** Ends the stream well or badly, after all that was sent before. */
  public void failAfterQueue(Refusal refusal) {
    end(new Ending(true, false, Optional.of(refusal)));
  }

  /** Ends the stream at once; what waits is dropped. */
  public void fail(Refusal refusal) {
    end(new Ending(false, false, Optional.of(refusal)));
  }

  private void end(Ending how) {
    if (ended.compareAndSet(false, true)) {
      ending = Optional.of(how);
      onEnd.run();
      drain();
    }
  }

  /** Returns whether the stream has ended or will after what waits. */
  public boolean isEnded() {
    return ended.get();
  }

  /**
   * Returns whether a message would leave at once. When that turns true, {@link #onRoom} is told.
   */
  public boolean isReady() {
    return orStarved(queue.isEmpty() && call.isReady(), () -> queue.isEmpty() && call.isReady());
  }

  /**
   * Returns whether the queue is at most half full. When that turns true, {@link #onRoom} is told.
   */
  boolean hasRoom() {
    return orStarved(isHalfEmpty(), this::isHalfEmpty);
  }

  private boolean isHalfEmpty() {
    return messages.get() <= maxMessages / 2 && bytes.get() <= maxBytes / 2;
  }

  /** Looks again after raising the flag: a drain in between has not seen it. */
  private boolean orStarved(boolean now, Supplier<Boolean> again) {
    if (now) {
      return true;
    }
    starved = true;
    return again.get();
  }

  /** What goes wrong with one client's stream must not look like a failure of the coordinator. */
  private void drainLast() {
    try {
      drain();
    } catch (RuntimeException e) {
      LOG.atError().setCause(e).log("A stream could not be written to");
    }
  }

  private void drain() {
    if (work.getAndIncrement() != 0) {
      return;
    }
    int seen = 1;
    while (seen != 0) {
      try {
        drainOnce();
      } catch (RuntimeException e) {
        breakOff(e);
      }
      seen = work.addAndGet(-seen);
    }
  }

  /**
   * A call that threw is in no known state: it is ended as well as it can be, and nothing more is
   * written to it.
   */
  private void breakOff(RuntimeException cause) {
    finished = true;
    discard();
    Refusal refusal = Statuses.of(cause);
    if (ended.compareAndSet(false, true)) {
      onEnd.run();
    }
    try {
      call.onError(refusal.toException());
    } catch (RuntimeException e) {
      LOG.atDebug().setCause(e).log("Stream that broke cannot be ended either");
    }
  }

  private void drainOnce() {
    Optional<Ending> end = ending;
    if (finished || end.map(how -> !how.afterQueue()).orElse(false)) {
      discard();
      end.ifPresent(this::finish);
      return;
    }
    if (corked && end.isEmpty()) {
      return;
    }
    first.ifPresent(call::onNext);
    first = Optional.empty();
    // At the end, what waits goes at once: it is bounded, and the client may never become ready
    // again.
    while (end.isPresent() || call.isReady()) {
      T message = next();
      if (message == null) {
        break;
      }
      call.onNext(packing.isPresent() ? packed(message, packing.get()) : message);
    }
    end.ifPresent(this::finish);
    if (starved && queue.isEmpty() && call.isReady()) {
      starved = false;
      onRoom.run();
    }
  }

  /** Takes the next message from the queue; null if none waits. */
  private @Nullable T next() {
    for (Waiting<T> waiting = queue.poll(); waiting != null; waiting = queue.poll()) {
      T message = waiting.getAndSet(null);
      if (message != null) {
        if (waiting.topic.isPresent()) {
          newest.remove(waiting.topic.get(), waiting);
        }
        release(message);
        return message;
      }
    }
    return null;
  }

  private void release(T message) {
    messages.decrementAndGet();
    bytes.addAndGet(-message.getSerializedSize());
    budgets.unread().release(costOf(message));
  }

  private T packed(T message, Packing<T> how) {
    if (queue.isEmpty()) {
      return message;
    }
    List<T> parts = new ArrayList<>();
    int size = 0;
    for (T next = message; next != null; next = next()) {
      parts.add(next);
      size += next.getSerializedSize();
      if (parts.size() >= PACK_MESSAGES || size >= PACK_BYTES) {
        break;
      }
    }
    return parts.size() == 1 ? message : how.pack(parts);
  }

  private void finish(Ending end) {
    if (finished) {
      return;
    }
    finished = true;
    if (end.cancelled()) {
      return;
    }
    end.refusal()
        .ifPresentOrElse(refusal -> call.onError(refusal.toException()), call::onCompleted);
  }
}
