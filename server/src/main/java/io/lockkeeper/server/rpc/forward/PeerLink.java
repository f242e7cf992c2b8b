package io.lockkeeper.server.rpc.forward;

import io.grpc.Channel;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.lockkeeper.server.coordinator.api.Peer;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The way to one peer: a connection that is kept, what crosses it, and whether there are signs of
 * life.
 *
 * <p>The peer is suspected when requests for it wait and it gives no sign of life: not even an
 * answer to a question after its health, or no connection at all. Any sign of life takes that back
 * here. One that lives and has said for as long that it can renew no lease, while we can, is
 * suspected too: ZooKeeper may keep its sessions for it though it hears nothing of ZooKeeper.
 */
final class PeerLink {

  private static final Logger LOG = LoggerFactory.getLogger(PeerLink.class);
  private static final int MAX_CROSSINGS = 15_000;
  private static final int REFUSALS = 2;
  private static final long NEVER = 0;
  private static final long REPEAT_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final Peer peer;
  private final ManagedChannel channel;
  private final PeerLimits limits;
  private final Suspicion suspicion;
  private final PeerHealth health;
  private final StallDetector stallDetector;
  private final Set<Traffic> crossings = ConcurrentHashMap.newKeySet();
  private final AtomicLong waitingSince = new AtomicLong(NEVER);
  private final AtomicLong unreachableSince = new AtomicLong(NEVER);
  private final AtomicLong unableSince = new AtomicLong(NEVER);
  private final AtomicLong otherSince = new AtomicLong(NEVER);
  private final AtomicLong toldOtherAt = new AtomicLong(NEVER);
  private final AtomicLong warnedAt = new AtomicLong(NEVER);
  private final AtomicBoolean suspected = new AtomicBoolean();
  private final AtomicLong suspectAgainAt = new AtomicLong();
  private final AtomicInteger refusals = new AtomicInteger();
  private volatile boolean known;
  private volatile boolean serving;

  /** Something that goes on across a link. */
  interface Traffic {
    /** The peer gives no sign of life: nothing will come of it. */
    void onSilence();
  }

  /** Hears of suspicions. */
  interface Suspicion {
    /** The peer does not answer, or can do nothing for its leases. */
    void onSuspected(Peer peer);
  }

  PeerLink(
      Peer peer,
      ManagedChannel channel,
      PeerLimits limits,
      Suspicion suspicion,
      ScheduledExecutorService timer,
      StallDetector stallDetector) {
    this.peer = peer;
    this.channel = channel;
    this.limits = limits;
    this.suspicion = suspicion;
    this.stallDetector = stallDetector;
    this.health = new PeerHealth(this, channel, limits, timer, stallDetector);
  }

  /** Begins to watch the peer. */
  void start() {
    health.watch();
  }

  Peer peer() {
    return peer;
  }

  Channel channel() {
    return channel;
  }

  /** Returns whether the peer is suspected: it makes no sense to ask it. */
  boolean isSuspected() {
    return suspected.get();
  }

  /**
   * Returns whether it makes sense to ask the peer for what a client wants. Where it does not, the
   * suspicion is told again now and then: the peer may have taken over more since it was told
   * first.
   */
  boolean mayBeAsked() {
    if (!isSuspected() && !isUnable()) {
      return true;
    }
    long at = suspectAgainAt.get();
    if (now() - at >= 0 && suspectAgainAt.compareAndSet(at, nextSuspicion())) {
      if (!isSuspected()) {
        warn("it can renew no lease");
      }
      suspicion.onSuspected(peer);
    }
    return false;
  }

  private void warn(String why) {
    LOG.atLevel(isDue(warnedAt, now()) ? Level.WARN : Level.DEBUG)
        .addKeyValue("peer", peer.id())
        .addKeyValue("address", peer.address())
        .log("Peer is suspected: {}; its leases are taken over", why);
  }

  private static boolean isDue(AtomicLong lastNanos, long now) {
    long last = lastNanos.get();
    return (last == NEVER || now - last >= REPEAT_NANOS) && lastNanos.compareAndSet(last, now);
  }

  private boolean isUnable() {
    long since = unableSince.get();
    return since != NEVER
        && now() - since >= limits.untilSuspected().toNanos()
        && stallDetector.isSteadySince(since);
  }

  // Two that suspect each other do not take everything back at the same moment.
  private long nextSuspicion() {
    long pause = limits.untilSuspected().toNanos();
    return now() + pause + ThreadLocalRandom.current().nextLong(pause * 2 / 3);
  }

  /** Returns whether the peer was ever heard over this link. */
  boolean isKnown() {
    return known;
  }

  /** Adds something that crosses. Returns false if there is too much already. */
  boolean enter(Traffic traffic) {
    boolean entered = crossings.size() < MAX_CROSSINGS && crossings.add(traffic);
    if (entered && isSuspected()) {
      // Who tells of the silence may have been past this one already.
      traffic.onSilence();
    }
    return entered;
  }

  /** Forgets something that has crossed. */
  void leave(Traffic traffic) {
    crossings.remove(traffic);
  }

  /** Notes that something was sent that the peer should react to in some way. */
  void sent() {
    waitingSince.compareAndSet(NEVER, now());
  }

  /** Returns whether the peer says now that it can renew leases. */
  boolean serves() {
    return serving && !isSuspected();
  }

  /** Notes that the peer says nothing of itself any more. */
  void saysNothing() {
    serving = false;
  }

  /** Notes whether the peer says that it can renew leases. */
  void says(boolean able) {
    serving = able;
    if (able) {
      unableSince.set(NEVER);
    } else if (unableSince.compareAndSet(NEVER, now())) {
      suspectAgainAt.set(now());
    }
  }

  /** Notes a sign of life. */
  void heard() {
    known = true;
    refusals.set(0);
    waitingSince.set(NEVER);
    unreachableSince.set(NEVER);
    otherSince.set(NEVER);
    if (suspected.compareAndSet(true, false)) {
      LOG.atInfo().addKeyValue("peer", peer.id()).log("A suspected peer answers again");
    }
  }

  /**
   * Notes that a call broke off or could not be made: nothing is under way any more that the peer
   * could react to. Where there was a connection and the port refuses others, twice in a row, the
   * process is as good as certain to be gone; anything else proves nothing. Of a name with several
   * addresses only what the last of them says is known.
   */
  void brokeOff(Status why) {
    waitingSince.set(NEVER);
    if (!PeerFailure.isRefused(why)) {
      refusals.set(0);
    } else if (known && refusals.incrementAndGet() >= REFUSALS) {
      suspect("its port refuses connections");
    }
  }

  /**
   * Notes that another coordinator answers at the peer's address. A coordinator that starts where
   * one has just ended does so until ZooKeeper has removed the old member; what lasts longer is a
   * wrong setting, and is logged.
   */
  void answeredByOther(String id, long now) {
    otherSince.compareAndSet(NEVER, now);
    if (now - otherSince.get() >= REPEAT_NANOS && isDue(toldOtherAt, now)) {
      LOG.atError()
          .addKeyValue("peer", peer.id())
          .addKeyValue("address", peer.address())
          .addKeyValue("answers", id)
          .log(
              "the address that a peer advertises leads to another coordinator, so that the peer cannot be reached: give"
                  + " each coordinator an --advertise of its own, not that of a balancer");
    }
  }

  /** Notes that a client's call broke off or could not be made. */
  void unreachable(Status why) {
    LOG.atDebug().addKeyValue("peer", peer.id()).log("A call to a peer broke off: {}", why);
    brokeOff(why);
    long now = now();
    unreachableSince.compareAndSet(NEVER, now);
    long since = unreachableSince.get();
    if (since != NEVER && now - since >= limits.untilSuspected().toNanos()) {
      suspect("it cannot be reached");
    }
  }

  /** Says that the peer does not answer. */
  void suspect(String why) {
    if (suspected.compareAndSet(false, true)) {
      suspectAgainAt.set(nextSuspicion());
      warn(why);
      suspicion.onSuspected(peer);
      crossings.forEach(Traffic::onSilence);
    }
  }

  /**
   * Looks whether the peer owes a sign of life, and asks for one. Called every now and then.
   *
   * @param able whether this coordinator can renew leases: while it cannot, a peer that cannot
   *     either is no worse
   */
  void tick(boolean able) {
    if (!able) {
      unableSince.updateAndGet(since -> since == NEVER ? NEVER : now());
    }
    long since = waitingSince.get();
    boolean quiet = since != NEVER && now() - since >= limits.quiet().toNanos();
    if (quiet || suspected.get()) {
      health.askForLife();
    }
  }

  /** Lets what crosses come to its end and takes nothing new. */
  void retire() {
    health.close();
    channel.shutdown();
  }

  /** Breaks everything off. */
  void breakOff() {
    health.close();
    channel.shutdownNow();
  }

  /** Waits until nothing is left of the connection, bounded. */
  void awaitEnd(long nanos) {
    try {
      if (!channel.awaitTermination(nanos, TimeUnit.NANOSECONDS)) {
        LOG.atDebug().addKeyValue("peer", peer.id()).log("A link takes long to end");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  // Zero stands for never.
  private static long now() {
    return System.nanoTime() | 1;
  }
}
