package io.lockkeeper.client.internal.runtime;

import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.lockkeeper.client.LockkeeperException;
import io.lockkeeper.client.Watch;
import io.lockkeeper.client.WatchListener;
import io.lockkeeper.client.internal.context.ClientContext;
import io.lockkeeper.client.internal.context.Settings;
import io.lockkeeper.client.internal.loop.Backoff;
import io.lockkeeper.client.internal.loop.Callbacks;
import io.lockkeeper.client.internal.loop.Loop;
import io.lockkeeper.client.internal.loop.ResettableTimer;
import io.lockkeeper.client.internal.protocol.ErrorDetails;
import io.lockkeeper.client.internal.protocol.Protos;
import io.lockkeeper.client.internal.transport.ServerList;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import java.util.Optional;
import java.util.Set;

/**
 * One watch, over as many connections as it takes, which nothing else uses. Its state is changed on
 * the loop only; the listener is called on the callback executor, and the next event is requested
 * when it has returned.
 */
final class WatchStream implements Watch {

  private final WatchRequest what;
  private final WatchListener listener;
  private final Settings settings;
  private final Loop loop;
  private final Callbacks callbacks;
  private final ServerList servers;
  private final Backoff backoff;
  private final Set<WatchStream> open;
  private Optional<Attempt> current = Optional.empty();
  private final ResettableTimer retry;
  private final ResettableTimer limit;
  private long resumeFrom;
  private boolean begun;
  private boolean wasServed;
  private int failures;

  /** There is no next attempt: closed, refused for good, or the client is closed. */
  private boolean over;

  /** The user has closed it, and wants to hear nothing more. Any thread. */
  private volatile boolean closed;

  private WatchStream(
      WatchRequest what, WatchListener listener, ClientContext context, Set<WatchStream> open) {
    this.what = what;
    this.listener = listener;
    this.settings = context.settings();
    this.loop = context.loop();
    this.callbacks = context.callbacks();
    this.backoff = context.backoff();
    this.servers = new ServerList(settings.channels(), context.discovery());
    this.open = open;
    this.retry = new ResettableTimer(loop);
    this.limit = new ResettableTimer(loop);
  }

  /**
   * Starts a watch.
   *
   * @param what the names or the prefix
   * @param open all watches of the client, for the loop only; has the watch until it is over
   */
  static Watch start(
      WatchRequest what, WatchListener listener, ClientContext context, Set<WatchStream> open) {
    WatchStream watch = new WatchStream(what, listener, context, open);
    if (!context.loop().executeIfRunning(watch::begin)) {
      throw new IllegalStateException("this client is closed: build another one");
    }
    return watch;
  }

  @Override
  public void close() {
    closed = true;
    loop.execute(this::abandon);
  }

  /** Ends the watch, and tells the listener after what came before. On the loop, which stops. */
  void onClientClosed() {
    abandon();
    fail(new LockkeeperException(name() + ": this client is closed: build another one"));
  }

  private void fail(LockkeeperException why) {
    callUnlessClosed(() -> listener.onFailed(why));
  }

  /** Calls the listener on the callback executor, unless the user has closed the watch by then. */
  private void callUnlessClosed(Runnable call) {
    callbacks.run(
        () -> {
          if (!closed) {
            call.run();
          }
        });
  }

  private void abandon() {
    over = true;
    open.remove(this);
    retry.cancel();
    limit.cancel();
    current.ifPresent(Attempt::abandon);
    current = Optional.empty();
  }

  private void begin() {
    open.add(this);
    attempt();
  }

  private void attempt() {
    servers.refresh(loop, this::connect);
  }

  private void connect() {
    if (over) {
      return;
    }
    Attempt next;
    try {
      next = new Attempt(servers.connect());
    } catch (RuntimeException | Error e) {
      retryLater(0); // The channel factory may be the user's.
      return;
    }
    current = Optional.of(next);
    if (resumeFrom == 0) {
      limit.set(settings.requestTimeout().toNanos(), next::onSilence);
    }
    next.start(what.toBuilder().setStartRevision(resumeFrom).build());
  }

  private void onEvent(Attempt attempt, WatchResponse event) {
    if (current.filter(attempt::equals).isEmpty()) {
      return;
    }
    failures = 0;
    if (event.hasHeartbeat()) {
      attempt.next();
      return;
    }
    limit.cancel();
    switch (event.getEventCase()) {
      // An incomplete snapshot cannot be resumed.
      case SNAPSHOT -> resumeFrom = 0;
      case SNAPSHOT_END, CHANGE -> resumeFrom = event.getRevision();
      case GAP -> resumeFrom = 0;
      case HEARTBEAT, EVENT_NOT_SET -> {
        // From a newer server; this client has no use for it.
      }
    }
    begun = true;
    wasServed = true;
    callbacks.run(
        () -> {
          try {
            if (!closed) {
              tell(event);
            }
          } finally {
            loop.execute(attempt::next);
          }
        });
  }

  private void tell(WatchResponse event) {
    switch (event.getEventCase()) {
      case SNAPSHOT -> listener.onSnapshot(Protos.toLockInfo(event.getSnapshot()));
      case SNAPSHOT_END -> listener.onSnapshotEnd();
      case CHANGE -> listener.onChange(Protos.toLockChange(event));
      case GAP -> listener.onGap(event.getGap().getReason());
      case HEARTBEAT, EVENT_NOT_SET -> {
        // See above.
      }
    }
  }

  private void onEnd(Attempt attempt, ErrorDetails why) {
    if (current.filter(attempt::equals).isEmpty()) {
      return;
    }
    current = Optional.empty();
    limit.cancel();
    attempt.abandon();
    if (!mayGoOn(why)) {
      over = true;
      open.remove(this);
      fail(why.toException(name()));
      return;
    }
    if (begun && resumeFrom == 0) {
      begun = false;
      callUnlessClosed(
          () -> listener.onGap("the connection broke before the snapshot was complete"));
    }
    retryLater(why.retryAfter().map(Loop::toNanos).orElse(0L));
  }

  /** A watch that was served is continued elsewhere when one server has too many watches. */
  private boolean mayGoOn(ErrorDetails why) {
    return why.isPassing() || (wasServed && why.code() == Status.Code.RESOURCE_EXHAUSTED);
  }

  private String name() {
    return what.getNamesCount() == 0
        ? "watch of \"" + what.getPrefix() + "\""
        : "watch of " + what.getNamesList();
  }

  /** Leaves each server alone as long as it asks for, but no longer than one may take to answer. */
  private void retryLater(long aloneNanos) {
    servers.leaveAlone(loop.nanos(), backoff.withJitter(aloneNanos));
    servers.moveOn(loop.nanos());
    long atLeastNanos =
        Math.min(servers.aloneNanos(loop.nanos()), Loop.toNanos(settings.requestTimeout()));
    retry.set(Math.max(atLeastNanos, backoff.nanosAfter(++failures)), this::attempt);
  }

  /** One call. */
  private final class Attempt implements ClientResponseObserver<WatchRequest, WatchResponse> {
    private final ManagedChannel channel;
    private Optional<ClientCallStreamObserver<WatchRequest>> call = Optional.empty();

    Attempt(ManagedChannel channel) {
      this.channel = channel;
    }

    void start(WatchRequest request) {
      Context.ROOT.run(() -> LockServiceGrpc.newStub(channel).watch(request, this));
    }

    /** A server that begins with a snapshot sends something at once. */
    void onSilence() {
      Status status = Status.UNAVAILABLE.withDescription("the server sends nothing");
      onEnd(this, ErrorDetails.of(status));
    }

    void next() {
      call.ifPresent(c -> c.request(1));
    }

    void abandon() {
      call.ifPresent(c -> c.cancel("the watch is over", null));
      channel.shutdownNow();
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<WatchRequest> stream) {
      stream.disableAutoRequestWithInitial(1);
      call = Optional.of(stream);
    }

    @Override
    public void onNext(WatchResponse event) {
      loop.execute(() -> onEvent(this, event));
    }

    @Override
    public void onError(Throwable failure) {
      ErrorDetails why = ErrorDetails.of(failure);
      loop.execute(() -> onEnd(this, why));
    }

    @Override
    public void onCompleted() {
      Status status = Status.UNAVAILABLE.withDescription("the server ended the watch");
      loop.execute(() -> onEnd(this, ErrorDetails.of(status)));
    }
  }
}
