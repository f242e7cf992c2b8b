package io.lockkeeper.client.internal.kept;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockListener;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LossReason;
import io.lockkeeper.client.QueuePlace;
import io.lockkeeper.client.ReleaseResult;
import io.lockkeeper.client.internal.acquisition.Acquisition;
import io.lockkeeper.client.internal.acquisition.Pending;
import io.lockkeeper.client.internal.context.ClientContext;
import io.lockkeeper.client.internal.loop.Loop;
import io.lockkeeper.client.internal.protocol.LockNames;
import io.lockkeeper.client.internal.telemetry.Telemetry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;

/**
 * One request for locks that may be kept, and its turn to use them. Where it stands is guarded by
 * {@link KeptLocks}.
 *
 * <pre>
 *   NEW --what is kept--> USING --released--> RELEASED
 *    |-----in use---> WAITING --handed on--^   '---lost---> LOST
 *    '--neither--> ASKING --granted-----^        (from WAITING to ASKING where it is given up)
 *   ASKING, WAITING --not acquired, withdrawn--> RELEASED
 * </pre>
 */
final class Turn implements Pending {

  enum State {
    NEW,
    /** In the client's own queue. */
    WAITING,
    /** By a request to the server. */
    ASKING,
    USING,
    RELEASED,
    LOST
  }

  static final ReleaseResult LOST = new ReleaseResult(ReleaseResult.Outcome.LOST, 0);
  static final ReleaseResult NOTHING_LEFT =
      new ReleaseResult(ReleaseResult.Outcome.ALREADY_RELEASED, 0);
  static final ReleaseResult GIVEN_BACK = new ReleaseResult(ReleaseResult.Outcome.RELEASED, 0);

  private final KeptLocks locks;
  private final ClientContext context;
  private final LockRequest request;
  private final Terms terms;
  private final Telemetry.Request telemetry;
  private final long madeAtNanos;
  private final CompletableFuture<LockHandle> result = new CompletableFuture<>();
  private final CompletableFuture<ReleaseResult> released = new CompletableFuture<>();
  private final TurnHandle handle;
  volatile State state = State.NEW;
  private volatile boolean unwanted;

  /** What it uses. */
  Optional<KeptHold> hold = Optional.empty();

  /** By what it asks the server. */
  Optional<Acquisition> acquisition = Optional.empty();

  /** Ends its wait in the client. */
  Optional<Loop.Timer> limit = Optional.empty();

  /** Whether its grant was told, and its end noticed: a loss may come before the grant is told. */
  boolean grantTold;

  boolean ended;

  Turn(KeptLocks locks, ClientContext context, LockRequest request) {
    this.locks = locks;
    this.context = context;
    this.request = request;
    this.terms = Terms.of(request);
    this.telemetry = context.settings().telemetry().onRequested(request);
    this.madeAtNanos = context.loop().nanos();
    this.handle = new TurnHandle(this, locks, context);
  }

  /** Returns what giving back one of several levels did. */
  static ReleaseResult oneOf(int left) {
    return new ReleaseResult(ReleaseResult.Outcome.DECREMENTED, left);
  }

  LockRequest request() {
    return request;
  }

  Terms terms() {
    return terms;
  }

  String owner() {
    return request.owner();
  }

  TurnHandle handle() {
    return handle;
  }

  /**
   * Returns what the server is asked for: without an owner, since what is granted may be used by
   * others after this one.
   */
  LockRequest sent(LockListener listener) {
    LockRequest sent = telemetry.traced(request).owner("").skipDeadlockCheck().listener(listener);
    return request.waitLimit().isPresent() ? sent.waitAtMost(leftToWait()) : sent;
  }

  /** Returns how much is left of its wait limit; meaningful if it has one. */
  private Duration leftToWait() {
    Duration waited = Duration.ofNanos(context.loop().nanos() - madeAtNanos);
    Duration left = request.waitLimit().orElseThrow().minus(waited);
    return left.isNegative() ? Duration.ZERO : left;
  }

  @Override
  public CompletableFuture<LockHandle> result() {
    return result;
  }

  @Override
  public CompletableFuture<ReleaseResult> released() {
    return released;
  }

  @Override
  public void becomeUnwanted() {
    unwanted = true;
    locks.becomeUnwanted(this);
  }

  @Override
  public void withdraw() {
    locks.withdraw(this);
  }

  @Override
  public String names() {
    return LockNames.join(request.locks());
  }

  boolean isUnwanted() {
    return unwanted;
  }

  /** Tells that it waits for what others in the client use, and for how many of them. */
  void tellPlaces(int ahead) {
    if (unwanted || state != State.WAITING) {
      return;
    }
    request
        .listener()
        .onPlaces(
            request.locks().stream()
                .map(lock -> new QueuePlace(lock.name(), ahead, List.of(), Optional.empty()))
                .toList());
  }

  /** It uses the locks: tells so, and what else a user must know of them. */
  void complete() {
    telemetry.onGranted(handle);
    if (request.listener() != LockListener.NONE) {
      context.callbacks().run(this::tellGranted);
    }
    locks.granted(this).forEach(this::tell);
    result.complete(handle);
  }

  /** Tells something of the locks that it uses, after its grant. */
  void tell(BiConsumer<LockListener, LockHandle> call) {
    if (request.listener() != LockListener.NONE) {
      context.callbacks().runIfRoom(() -> call.accept(request.listener(), handle));
    }
  }

  private void tellGranted() {
    if (!unwanted) {
      request.listener().onGranted(handle);
    }
  }

  /** It was not granted. */
  void fail(Throwable why) {
    telemetry.onNotGranted(why);
    result.completeExceptionally(why);
  }

  /** It has ended, after its grant was told: tells its telemetry, and of a loss its listener. */
  void tellEnd(Optional<LossReason> lost) {
    telemetry.onEnded(lost);
    lost.ifPresent(
        reason ->
            context
                .callbacks()
                .run(
                    () -> {
                      handle.completeLost(reason);
                      request.listener().onLost(handle, reason);
                    }));
  }
}
