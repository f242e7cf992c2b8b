package io.lockkeeper.client.internal.session;

import io.grpc.Status;
import io.lockkeeper.client.internal.loop.Backoff;
import io.lockkeeper.client.internal.loop.Loop;
import io.lockkeeper.client.internal.loop.ResettableTimer;
import io.lockkeeper.client.internal.protocol.ErrorDetails;
import io.lockkeeper.client.internal.transport.ServerList;
import io.lockkeeper.v1.GoingAway;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.SessionOpened;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps one session stream open to one of the servers: any of them serves any lease. On the
 * client's loop only.
 *
 * <pre>
 *   stopped --start--> waiting --due--> opening --opened--> open
 *                         ^                |                  |
 *                         +--end, silence--+--going away------+     (on to the next server)
 *   any --stop--> stopped
 * </pre>
 *
 * <p>There is one attempt at a time. The first one after a stream that was stable is made at once,
 * the others after a growing pause: a server that opens streams only to end them is no better than
 * one that refuses.
 */
final class SessionConnector {

  private static final Logger LOG = LoggerFactory.getLogger(SessionConnector.class);
  private static final long MIN_OPENING_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long STABLE_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** How long what was sent over a connection that was closed since may be on its way. */
  private static final long LATE_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final Loop loop;
  private final ServerList servers;
  private final Backoff backoff = new Backoff(new SplittableRandom());
  private final ConnectionHandler handler;
  private final ResettableTimer timer;
  private Optional<SessionStream> stream = Optional.empty();
  private Optional<SessionStream> retired = Optional.empty();
  private boolean running;
  private boolean open;
  private long sinceNanos;
  private long attempts;
  private int failures;
  private OptionalLong unansweredAtNanos = OptionalLong.empty();
  private String lastFailure = "no server was asked";

  /** What each server was last tried in vain for, since a stream was open. */
  private final Map<String, ErrorDetails> failed = new LinkedHashMap<>();

  /** Opens the session on each new stream, and handles what happens to it. */
  interface ConnectionHandler {
    /** Returns the first request of a stream. */
    OpenSession open();

    /** Returns how long an attempt should take at most, in nanoseconds. */
    long attemptLimitNanos();

    /** Returns how long one of so many servers may take to open a stream, in nanoseconds. */
    long openingLimitNanos(int servers);

    /** Returns whether the server serves the lease as far as is known: others are not heard. */
    boolean isCurrent(SessionResponse response);

    /** A stream is open; its first request was sent at {@code sentAtNanos}. */
    void onOpened(SessionOpened opened, long sentAtNanos);

    /** The server sent something on the open stream. */
    void onResponse(SessionResponse response);

    /** The server ends the stream, which may not be open. */
    void onGoingAway(GoingAway going);

    /** The stream ended or could not be opened; the next attempt follows unless stopped. */
    void onBroken(ErrorDetails why);
  }

  SessionConnector(Loop loop, ServerList servers, ConnectionHandler handler) {
    this.loop = loop;
    this.servers = servers;
    this.timer = new ResettableTimer(loop);
    this.handler = handler;
  }

  /** Begins to connect. Idempotent. */
  void start() {
    if (!running) {
      running = true;
      attemptAfter(backoff.nanosAfter(failures));
    }
  }

  /** Cancels the stream and all attempts. */
  void stop() {
    running = false;
    open = false;
    attempts++;
    timer.cancel();
    stream.ifPresent(SessionStream::abandon);
    stream = Optional.empty();
  }

  /** From now on, attempts are for another lease. */
  void forgetLease() {
    unansweredAtNanos = OptionalLong.empty();
  }

  /** Like {@link #stop}, but what was sent still gets through. */
  void retire() {
    retired.ifPresent(SessionStream::shutDown);
    retired = stream;
    stream.ifPresent(SessionStream::retire);
    stream = Optional.empty();
    stop();
  }

  /** Like {@link #stop}, and leaves no connection behind. */
  void shutDown() {
    stop();
    retired.ifPresent(SessionStream::shutDown);
  }

  /** Moves to a stream at the next server, after {@code delayNanos} if there is time for that. */
  void moveToNext(long delayNanos) {
    boolean wasStable = wasStable();
    retire();
    running = true;
    tryNext(wasStable, delayNanos);
  }

  /** Sends a request; returns false if no stream is open. */
  boolean send(SessionRequest request) {
    if (open) {
      stream.orElseThrow().send(request);
    }
    return open;
  }

  /** Treats the stream as broken. */
  void fail(String why) {
    stream.ifPresent(SessionStream::abandon);
    onEnd(Status.UNAVAILABLE.withDescription(why));
  }

  /**
   * Returns whether the stream may have been superseded by an attempt of this client for this lease
   * that was given up a short time ago, and whose first request came late. That explains the end of
   * one stream: the next one is somebody else's doing.
   */
  boolean wasSupersededByItself() {
    boolean recent =
        unansweredAtNanos.isPresent() && loop.nanos() - unansweredAtNanos.getAsLong() <= LATE_NANOS;
    unansweredAtNanos = OptionalLong.empty();
    return recent;
  }

  /** Returns whether each of the servers was tried in vain since a stream was open. */
  boolean hasTriedAll() {
    return failed.size() >= servers.count();
  }

  /** Returns what each server was last tried in vain for since a stream was open, by its name. */
  Map<String, ErrorDetails> failed() {
    return failed;
  }

  /** Returns what went wrong last, human-readable. */
  String lastFailure() {
    return lastFailure;
  }

  private void attemptAfter(long delayNanos) {
    timer.set(delayNanos, this::attempt);
  }

  private void attempt() {
    long number = ++attempts;
    servers.refresh(
        loop,
        () -> {
          if (number == attempts) {
            connect();
          }
        });
  }

  private void connect() {
    sinceNanos = loop.nanos();
    try {
      openStream();
    } catch (RuntimeException | Error e) {
      // The channel factory may be the user's: what it throws counts as a failed attempt.
      onEnd(Status.UNAVAILABLE.withDescription("cannot connect: " + e).withCause(e));
    }
  }

  private void openStream() {
    long limit = Math.max(MIN_OPENING_NANOS, handler.openingLimitNanos(servers.count()));
    SessionStream next = new SessionStream(servers.connect(), loop, new StreamHandler());
    stream = Optional.of(next);
    if (failures == 0) {
      lastFailure = servers.current() + ": no answer so far";
    }
    timer.set(limit, () -> onUnanswered("no answer within " + limit / 1_000_000 + " ms"));
    next.send(SessionRequest.newBuilder().setOpen(handler.open()).build());
  }

  private void onUnanswered(String why) {
    unansweredAtNanos = OptionalLong.of(loop.nanos());
    fail(why);
  }

  private void onOpened(SessionOpened opened) {
    timer.cancel();
    open = true;
    failed.clear();
    LOG.atDebug()
        .addKeyValue("server", servers.current())
        .addKeyValue("coordinator", opened.getCoordinatorId())
        .addKeyValue("lease", opened.getLeaseTag())
        .log("Session stream open");
    handler.onOpened(opened, sinceNanos);
  }

  private void onEnd(Status status) {
    onEnd(ErrorDetails.of(status));
  }

  private void onEnd(ErrorDetails why) {
    Status status = why.status();
    timer.cancel();
    boolean wasStable = wasStable();
    open = false;
    stream = Optional.empty();
    lastFailure = servers.current() + ": " + why.inWords();
    failed.put(servers.current(), why);
    LOG.atDebug().addKeyValue("server", servers.current()).log("Session stream ended: {}", status);
    long aloneNanos = why.retryAfter().map(Loop::toNanos).orElse(0L);
    servers.leaveAlone(loop.nanos(), backoff.withJitter(aloneNanos));
    tryNext(wasStable, 0);
    handler.onBroken(why);
  }

  private boolean wasStable() {
    return open && loop.nanos() - sinceNanos > STABLE_NANOS;
  }

  /**
   * Waits as long as the server has asked for, and as the next one wants to be left alone, while
   * there is time enough left for yet another one.
   */
  private void tryNext(boolean wasStable, long askedNanos) {
    failures = wasStable ? 0 : failures + 1;
    servers.moveOn(loop.nanos());
    long wantedNanos = Math.max(backoff.withJitter(askedNanos), servers.aloneNanos(loop.nanos()));
    long atLeastNanos = Math.min(wantedNanos, handler.attemptLimitNanos());
    attemptAfter(Math.max(atLeastNanos, backoff.nanosAfter(failures)));
  }

  /** Handles the first response, and passes on the others. */
  private final class StreamHandler implements SessionStream.StreamListener {
    @Override
    public void onResponse(SessionResponse response) {
      if (!handler.isCurrent(response)) {
        if (!open) {
          fail("another server serves the lease by now");
        }
      } else if (response.hasGoingAway()) {
        GoingAway going = response.getGoingAway();
        lastFailure = servers.current() + ": " + going.getReason() + ", " + going.getMessage();
        handler.onGoingAway(going);
      } else if (open) {
        handler.onResponse(response);
      } else if (response.hasOpened()) {
        onOpened(response.getOpened());
      } else {
        fail("the server did not open the session: " + response.getResponseCase());
      }
    }

    @Override
    public void onEnd(ErrorDetails why) {
      SessionConnector.this.onEnd(why);
    }
  }
}
