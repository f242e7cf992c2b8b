package io.lockkeeper.server.zookeeper.member;

import io.lockkeeper.server.coordinator.api.Peer;
import io.lockkeeper.server.coordinator.api.StoreView;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.record.MemberRecord;
import io.lockkeeper.server.zookeeper.record.StorePaths;
import io.lockkeeper.server.zookeeper.record.VersionedClaim;
import io.lockkeeper.server.zookeeper.record.ZooKeeperSettings;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The other coordinators, and whose sessions have nobody to look after them. Looks again at every
 * change of the members and from time to time. Lives on the store's thread.
 */
public final class Members {

  private static final long STABLE_AFTER_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final StoreContext context;
  private final Supplier<Optional<Handle>> connection;
  private final MemberNode member;
  private final OrphanedSessions orphans;
  private final long intervalMillis;
  private final Suspicions suspicions = new Suspicions();
  private final CopiedHome copiedHome;
  private final SharedAddress sharedAddress;
  private MemberScan.Seen newest = new MemberScan.Seen(Map.of(), Map.of());
  private Map<String, MemberRecord> members = Map.of();
  private final Map<String, Long> seenAtNanos = new HashMap<>();
  private Map<String, VersionedClaim> claims = Map.of();
  private Consumer<List<Peer>> listener = peers -> {};
  private boolean seenOnce;
  private boolean registered;
  private long stableAtNanos = System.nanoTime();
  private boolean scanning;
  private boolean again;
  private boolean stopped;

  /** Works over whatever handle {@code connection} gives at the time. */
  public Members(
      StoreContext context,
      Supplier<Optional<Handle>> connection,
      MemberNode member,
      OrphanedSessions orphans,
      long intervalMillis) {
    this.context = context;
    this.connection = connection;
    this.member = member;
    this.orphans = orphans;
    this.intervalMillis = intervalMillis;
    ZooKeeperSettings settings = context.settings();
    // A server of the ensemble that is further behind than this serves nobody.
    copiedHome =
        new CopiedHome(
            settings.member().coordinatorId(),
            settings.member().home(),
            settings.times().shortestSessionTimeout().toNanos());
    sharedAddress =
        new SharedAddress(
            settings.member().coordinatorId(),
            settings
                .times()
                .memberTimeout()
                .plus(settings.times().shortestSessionTimeout())
                .toNanos());
  }

  public void start() {
    context.executor().after(intervalMillis, this::tick);
  }

  private void tick() {
    if (!stopped) {
      start();
      scan();
    }
  }

  /** Tells nothing more. */
  public void stop() {
    stopped = true;
    orphans.stop();
  }

  /** Tells no more orphans. */
  public void leave() {
    orphans.stop();
  }

  /** Says who hears of the other coordinators: at once and at every change. */
  public void watch(Consumer<List<Peer>> next) {
    listener = next;
    listener.accept(others());
  }

  private List<Peer> others() {
    return members.entrySet().stream()
        .filter(known -> !known.getKey().equals(context.settings().member().coordinatorId()))
        .filter(known -> known.getValue().hasAddress())
        .map(known -> new Peer(known.getKey(), known.getValue().address()))
        .sorted(Comparator.comparing(Peer::id))
        .toList();
  }

  /** Returns who looks after a session, or empty if that is nobody, as far as is known. */
  public Optional<Peer> keeperOf(String claimName, VersionedClaim claim) {
    String owner = claim.record().owner();
    return isOrphan(claimName, claim)
        ? Optional.empty()
        : Optional.ofNullable(members.get(owner))
            .filter(MemberRecord::hasAddress)
            .map(known -> new Peer(owner, known.address()));
  }

  /**
   * Describes the members and the claims as they were seen last.
   *
   * @param ours what our own sessions are called, by the names of their claims
   */
  public Optional<StoreView> view(Map<String, SessionKey> ours) {
    if (!seenOnce) {
      return Optional.empty();
    }
    long now = System.nanoTime();
    List<StoreView.Member> known =
        members.entrySet().stream()
            .map(
                member ->
                    new StoreView.Member(
                        new Peer(member.getKey(), member.getValue().address()),
                        now - seenAtNanos.getOrDefault(member.getKey(), now)))
            .sorted(Comparator.comparing(member -> member.peer().id()))
            .toList();
    List<StoreView.Session> sessions =
        claims.entrySet().stream()
            .map(claim -> view(claim.getKey(), claim.getValue(), ours))
            .sorted(
                Comparator.comparing(StoreView.Session::owner)
                    .thenComparing(StoreView.Session::name))
            .toList();
    return Optional.of(new StoreView(known, sessions, List.of(), Optional.empty()));
  }

  private StoreView.Session view(
      String claimName, VersionedClaim claim, Map<String, SessionKey> ours) {
    Optional<SessionKey> own = Optional.ofNullable(ours.get(claimName));
    return new StoreView.Session(
        StorePaths.shortName(claimName),
        claim.record().owner(),
        claim.record().epoch(),
        own.isEmpty() && isOrphan(claimName, claim),
        own);
  }

  /** Forgets an orphan that somebody has taken. */
  public void onTaken(String claimName) {
    orphans.forget(claimName);
  }

  /** Takes note that a member does not answer, or can renew no lease. */
  public void suspect(String id) {
    if (members.containsKey(id)) {
      suspicions.raise(id, System.nanoTime());
      scan();
    }
  }

  /** Looks at all claims and members, soon. */
  public void scan() {
    if (stopped) {
      return;
    }
    if (scanning) {
      again = true;
      return;
    }
    connection
        .get()
        .ifPresent(
            handle -> {
              scanning = true;
              new MemberScan(context, handle, newest, this::onScanned).start();
            });
  }

  private void onScanned(Optional<MemberScan.Seen> seen) {
    scanning = false;
    if (stopped) {
      return;
    }
    seen.ifPresent(this::onSeen);
    if (again) {
      again = false;
      scan();
    }
  }

  private void onSeen(MemberScan.Seen seen) {
    List<Peer> before = others();
    newest = seen;
    members = Map.copyOf(seen.members());
    claims = Map.copyOf(seen.claims());
    seenAtNanos.keySet().retainAll(members.keySet());
    members.keySet().forEach(id -> seenAtNanos.putIfAbsent(id, System.nanoTime()));
    seenOnce = true;
    suspicions.look(members.keySet(), claims, System.nanoTime());
    copiedHome.look(members, claims, System.nanoTime());
    sharedAddress.look(members, System.nanoTime());
    List<Peer> now = others();
    if (!now.equals(before)) {
      listener.accept(now);
    }
    noteOwnNode(members.containsKey(context.settings().member().coordinatorId()));
    orphans.update(
        claims.entrySet().stream()
            .filter(claim -> isOrphan(claim.getKey(), claim.getValue()))
            .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)),
        candidates());
  }

  /**
   * What takes away our own member node, such as a stall of ZooKeeper's leader, takes away those of
   * others, and they all come back: until then nobody's absence means much.
   */
  private void noteOwnNode(boolean there) {
    if (there) {
      registered = true;
    } else {
      member.check();
      if (registered) {
        stableAtNanos = System.nanoTime() + STABLE_AFTER_NANOS;
      }
    }
  }

  private boolean isAbsent(String id) {
    return !members.containsKey(id) && System.nanoTime() - stableAtNanos >= 0;
  }

  /** Returns the coordinators that serve, this one included, as far as is known. */
  public Set<String> candidates() {
    return members.keySet().stream()
        .filter(id -> !suspicions.isSuspect(id))
        .collect(Collectors.toSet());
  }

  /**
   * Returns whether nobody looks after a session, as far as is known: neither its owner, nor we.
   * One that is ours and is not among our sessions was taken by us without our noticing.
   */
  public boolean isOrphan(String claimName, VersionedClaim claim) {
    ZooKeeperSettings.Member self = context.settings().member();
    String owner = claim.record().owner();
    return seenOnce
        && (owner.equals(self.coordinatorId())
            || isAbsent(owner)
            || claim.record().isPredecessor(self.coordinatorId(), self.home())
            || suspicions.isSuspect(claimName, claim));
  }
}
