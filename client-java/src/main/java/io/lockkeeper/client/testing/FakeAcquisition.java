package io.lockkeeper.client.testing;

import io.lockkeeper.client.internal.Loop;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.ReleaseRequested;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** An acquisition of the in-memory server. */
final class FakeAcquisition {

  enum State {
    WAITING,
    HELD,
    ENDED
  }

  final FakeLease lease;
  final String requestId;
  final AcquireRequest request;

  /** Rises with every acquisition of the server. */
  final long number;

  /** One for each lock, in the order of the request. */
  List<FakeEntry> entries = List.of();

  /** Why it ends before it waits. */
  Optional<FakeArrivals.Refusal> refusal = Optional.empty();

  /** Whether its client believes to hold what is not held any more. */
  boolean lost;

  State state = State.WAITING;

  /** Rises with every grant of the server. */
  long grantNumber;

  Optional<Loop.Timer> waitLimit = Optional.empty();
  Optional<Loop.Timer> positions = Optional.empty();
  Optional<Loop.Timer> holdLimit = Optional.empty();
  Optional<Long> holdEndsAtNanos = Optional.empty();
  Optional<Loop.Timer> linger = Optional.empty();
  private Optional<FakeCall> call = Optional.empty();
  private Optional<AcquireResponse> last = Optional.empty();
  private Optional<AcquireResponse> asked = Optional.empty();
  private Optional<Long> askedUntilNanos = Optional.empty();
  private boolean heard;
  private long sequence;

  FakeAcquisition(FakeLease lease, String requestId, AcquireRequest request, long number) {
    this.lease = lease;
    this.requestId = requestId;
    this.request = request;
    this.number = number;
  }

  String holder() {
    return request.getHolder().isEmpty() ? lease.holder : request.getHolder();
  }

  /** Returns the entries, unless it has ended. */
  List<FakeEntry> liveEntries() {
    return state == State.ENDED ? List.of() : entries;
  }

  /** Returns the entries that are not admitted yet. */
  List<FakeEntry> waitingEntries() {
    return entries.stream().filter(e -> !e.held).toList();
  }

  /** Returns how many other levels there are of its holds; zero if one of them has none. */
  int levelsBeside() {
    List<Integer> levels = entries.stream().map(e -> e.levelsBeside().size()).toList();
    return levels.contains(0) ? 0 : Collections.max(levels);
  }

  /** Tells the client what happened, as the next in the sequence. */
  void tell(AcquireResponse.Builder event) {
    AcquireResponse numbered = event.setRequestId(requestId).setSequence(++sequence).build();
    switch (numbered.getEventCase()) {
      case QUEUED, GRANTED -> last = Optional.of(numbered);
      case LOST, NOT_ACQUIRED, RELEASED -> {
        last = Optional.of(numbered);
        asked = Optional.empty();
      }
      case RELEASE_REQUESTED -> asked = Optional.of(numbered);
      case POSITION, JEOPARDY, SAFE, EVENT_NOT_SET -> {
        // Of the moment: nothing to tell again.
      }
    }
    send(numbered);
  }

  /** Tells the holder that somebody asks it to give way. */
  void ask(ReleaseRequested wish, long nowNanos) {
    askedUntilNanos =
        wish.hasDeadline()
            ? Optional.of(nowNanos + FakeTime.toNanos(wish.getDeadline()))
            : Optional.empty();
    tell(AcquireResponse.newBuilder().setReleaseRequested(wish));
  }

  /** Forgets what was told, as if nobody had been; returns what tells a wish once more. */
  Optional<Runnable> forgetTold() {
    Optional<Runnable> wish = asked.map(event -> () -> tell(event.toBuilder()));
    sequence = 0;
    last = Optional.empty();
    asked = Optional.empty();
    return wish;
  }

  /** Answers a question with an event that is none in the sequence. */
  void answer(AcquireResponse.Builder event) {
    send(event.setRequestId(requestId).build());
  }

  /** Tells again where the acquisition stands, with the old numbers. */
  void retell(long nowNanos) {
    last.ifPresent(this::send);
    asked.map(event -> withTimeLeft(event, nowNanos)).ifPresent(this::send);
  }

  private AcquireResponse withTimeLeft(AcquireResponse event, long nowNanos) {
    AcquireResponse.Builder now = event.toBuilder();
    askedUntilNanos.ifPresent(
        until ->
            now.getReleaseRequestedBuilder()
                .setDeadline(FakeTime.toProto(Math.max(0, until - nowNanos))));
    return now.build();
  }

  private void send(AcquireResponse event) {
    heard = isListenedTo();
    call.ifPresent(c -> c.tell(event));
    // Also what came by a call: how else could a session hear of requests that it does not know?
    lease.session.ifPresent(s -> s.tell(event));
    if (state == State.ENDED) {
      call = Optional.empty();
    }
  }

  private boolean isListenedTo() {
    return call.isPresent() || lease.session.isPresent();
  }

  /** Returns whether nobody is there to whom it was told that it waits, or was granted. */
  boolean isForgotten() {
    return !isListenedTo() && (state == State.WAITING || (state == State.HELD && !heard));
  }

  /** That call hears from now on, and no call before it. */
  void attach(FakeCall next) {
    call.ifPresent(FakeCall::supersede);
    call = Optional.of(next);
    linger.ifPresent(Loop.Timer::cancel);
  }

  /** Returns whether that call was the one that hears, and now none does. */
  boolean detach(FakeCall gone) {
    boolean was = call.filter(gone::equals).isPresent();
    if (was) {
      call = Optional.empty();
    }
    return was;
  }

  /** Takes the timers back. */
  void stopTimers() {
    waitLimit.ifPresent(Loop.Timer::cancel);
    waitLimit = Optional.empty();
    positions.ifPresent(Loop.Timer::cancel);
    holdLimit.ifPresent(Loop.Timer::cancel);
  }
}
