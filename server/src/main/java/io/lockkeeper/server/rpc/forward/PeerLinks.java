package io.lockkeeper.server.rpc.forward;

import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.stub.MetadataUtils;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.Peer;
import io.lockkeeper.server.rpc.call.RpcStats;
import io.lockkeeper.server.rpc.wire.PeerHeaders;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The links to all peers: one for each, for as long as it is a member. */
public final class PeerLinks implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(PeerLinks.class);
  private static final long TICK_MILLIS = 250;
  private static final long RETIRED_SECONDS = 1;
  private static final long BREAK_OFF_MILLIS = 500;
  private static final int MAX_PEERS = 1_000;
  private static final int MAX_ANSWER_BYTES = 16 * 1024 * 1024;

  private final Coordinator coordinator;
  private final PeerSetup setup;
  private final Executor calls;
  private final ScheduledExecutorService timer;
  private final RpcStats stats;
  private final StallDetector stallDetector = new StallDetector();
  private final Map<String, PeerLink> links = new ConcurrentHashMap<>();
  private final Set<String> unusable = ConcurrentHashMap.newKeySet();
  private final Set<PeerLink> retired = ConcurrentHashMap.newKeySet();
  private volatile List<Peer> newest = List.of();
  private volatile boolean closed;
  private int toldServing;

  public PeerLinks(
      Coordinator coordinator,
      PeerSetup setup,
      Executor calls,
      ScheduledExecutorService timer,
      RpcStats stats) {
    this.coordinator = coordinator;
    this.setup = setup;
    this.calls = calls;
    this.timer = timer;
    this.stats = stats;
  }

  /** Begins to hear of peers, and to watch them. */
  public void start() {
    coordinator.watchPeers(
        peers -> {
          newest = peers;
          calls.execute(this::meetNewest);
        });
    var unused =
        timer.scheduleWithFixedDelay(this::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void tick() {
    stallDetector.beatOn(calls);
    boolean able = coordinator.status().sessionUsable();
    links.values().forEach(link -> link.tick(able));
    tellServing();
  }

  private void tellServing() {
    int serving = (int) links.values().stream().filter(PeerLink::serves).count();
    if (serving != toldServing) {
      toldServing = serving;
      coordinator.peersServing(serving);
    }
  }

  /** The tasks of several lists may overtake each other: the last of them sees the newest list. */
  private synchronized void meetNewest() {
    List<Peer> peers = newest;
    Set<String> ids = new HashSet<>();
    for (Peer peer : peers) {
      ids.add(peer.id());
      var unused = link(peer);
    }
    for (PeerLink link : List.copyOf(links.values())) {
      if (!ids.contains(link.peer().id()) && links.remove(link.peer().id(), link)) {
        retire(link);
      }
    }
    unusable.retainAll(ids);
  }

  private void retire(PeerLink link) {
    link.retire();
    retired.add(link);
    var unused =
        timer.schedule(
            () -> {
              retired.remove(link);
              link.breakOff();
            },
            RETIRED_SECONDS,
            TimeUnit.SECONDS);
  }

  /** Returns the link to a peer, made if need be; empty if it cannot be. */
  Optional<PeerLink> link(Peer peer) {
    PeerLink known = links.get(peer.id());
    if (known != null) {
      return Optional.of(known);
    }
    if (closed || peer.id().equals(setup.ownId()) || links.size() >= MAX_PEERS) {
      return Optional.empty();
    }
    try {
      PeerLink made = links.computeIfAbsent(peer.id(), id -> connect(peer));
      if (closed) {
        made.breakOff();
      }
      return Optional.of(made);
    } catch (IllegalArgumentException e) {
      // Every request for one of its leases gets here.
      if (unusable.size() < MAX_PEERS && unusable.add(peer.id())) {
        LOG.atWarn()
            .addKeyValue("peer", peer.id())
            .addKeyValue("address", peer.address())
            .log("Peer advertises an address that cannot be used: {}", e.getMessage());
      }
      return Optional.empty();
    }
  }

  private PeerLink connect(Peer peer) {
    Metadata addressee = new Metadata();
    addressee.put(PeerHeaders.COORDINATOR, peer.id());
    ManagedChannel channel =
        setup
            .dialer()
            .dial(peer.address())
            .intercept(MetadataUtils.newAttachHeadersInterceptor(addressee))
            .executor(calls)
            .maxInboundMessageSize(MAX_ANSWER_BYTES)
            .build();
    PeerLink link =
        new PeerLink(peer, channel, setup.limits(), this::onSuspected, timer, stallDetector);
    link.start();
    return link;
  }

  private void onSuspected(Peer peer) {
    stats.suspicions.increment();
    coordinator.suspect(peer.id());
  }

  /** Returns the links to all peers. */
  List<PeerLink> all() {
    return List.copyOf(links.values());
  }

  /** Returns whether a peer can renew leases, as far as is known. */
  public boolean serves(String id) {
    PeerLink link = links.get(id);
    return link != null && link.serves();
  }

  /** Returns how many peers there are. */
  public int size() {
    return links.size();
  }

  /** Returns whether there is a link to a peer over which it was heard. */
  boolean knows(String id) {
    PeerLink link = links.get(id);
    return link != null && link.isKnown();
  }

  /** Breaks all links off; returns when that is done, or after half a second. */
  @Override
  public void close() {
    closed = true;
    List<PeerLink> all = Stream.concat(links.values().stream(), retired.stream()).toList();
    links.clear();
    all.forEach(PeerLink::breakOff);
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(BREAK_OFF_MILLIS);
    all.forEach(link -> link.awaitEnd(deadline - System.nanoTime()));
  }
}
