package io.lockkeeper.server.zookeeper;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes claim records that nobody will: those whose coordinator has had no member node for twice
 * the session's timeout, watched without a gap in our own connection, so that the session must be
 * dead. Bounded work per round. Lives on the store's thread.
 */
final class ClaimSweep {

  private static final Logger LOG = LoggerFactory.getLogger(ClaimSweep.class);
  private static final int MAX_READS = 256;

  private final StoreContext context;
  private final MirrorFeed mirror;
  private final Supplier<Set<String>> ours;
  private final long intervalMillis;
  private final Map<String, Orphan> orphans = new HashMap<>();
  private long generation;
  private boolean stopped;

  private record Orphan(ClaimRecord claim, int version, long sinceNanos) {}

  /** Sweeps every so often; {@code ours} gives the names of this coordinator's own claims. */
  ClaimSweep(
      StoreContext context, MirrorFeed mirror, Supplier<Set<String>> ours, long intervalMillis) {
    this.context = context;
    this.mirror = mirror;
    this.ours = ours;
    this.intervalMillis = intervalMillis;
  }

  void start() {
    context.thread().after(intervalMillis, this::round);
  }

  void stop() {
    stopped = true;
  }

  private void round() {
    if (stopped) {
      return;
    }
    start();
    if (generation != mirror.generation()) {
      // The connection was lost meanwhile: what was seen before proves nothing about the time
      // between.
      generation = mirror.generation();
      orphans.clear();
    }
    mirror.connection().ifPresent(this::listMembers);
  }

  private void listMembers(Handle handle) {
    handle.getChildren(
        context.paths().coordinators(),
        false,
        (rc, path, ctx, members) ->
            context
                .thread()
                .execute(
                    () -> {
                      if (rc == Code.OK.intValue() && members != null) {
                        listClaims(handle, new HashSet<>(members));
                      }
                    }),
        null);
  }

  private void listClaims(Handle handle, Set<String> members) {
    handle.getChildren(
        context.paths().sessions(),
        false,
        (rc, path, ctx, claims) ->
            context
                .thread()
                .execute(
                    () -> {
                      if (rc == Code.OK.intValue() && claims != null) {
                        judge(handle, members, claims);
                      }
                    }),
        null);
  }

  private void judge(Handle handle, Set<String> members, List<String> claims) {
    Set<String> strangers = new HashSet<>(claims);
    strangers.removeAll(ours.get());
    orphans.keySet().retainAll(strangers);
    orphans.values().removeIf(orphan -> lives(orphan.claim(), members));
    int reads = 0;
    for (String name : strangers) {
      Optional<Orphan> known = Optional.ofNullable(orphans.get(name));
      if (known.isPresent()) {
        removeIfDue(handle, name, known.get());
      } else if (reads < MAX_READS) {
        reads++;
        read(handle, name, members);
      }
    }
  }

  private boolean lives(ClaimRecord claim, Set<String> members) {
    // A claim in our own name that is not ours is that of an earlier run.
    return members.contains(claim.owner())
        && !claim.owner().equals(context.settings().coordinatorId());
  }

  private void read(Handle handle, String name, Set<String> members) {
    long current = generation;
    handle.getData(
        context.paths().sessions() + "/" + name,
        false,
        (rc, path, ctx, data, stat) ->
            context
                .thread()
                .execute(
                    () -> {
                      if (rc == Code.OK.intValue() && current == mirror.generation()) {
                        ClaimRecord claim = ClaimRecord.read(DoubtResolution.orEmpty(data));
                        note(
                            name, new Orphan(claim, stat.getVersion(), System.nanoTime()), members);
                      }
                    }),
        null);
  }

  private void note(String name, Orphan orphan, Set<String> members) {
    if (!lives(orphan.claim(), members)) {
      orphans.putIfAbsent(name, orphan);
    }
  }

  private void removeIfDue(Handle handle, String name, Orphan orphan) {
    long timeout =
        Math.max(orphan.claim().timeoutMillis(), context.settings().sessionTimeout().toMillis());
    if (System.nanoTime() - orphan.sinceNanos() < TimeUnit.MILLISECONDS.toNanos(2 * timeout)) {
      return;
    }
    orphans.remove(name);
    handle.delete(
        context.paths().sessions() + "/" + name,
        orphan.version(),
        (rc, path, ctx) ->
            context
                .thread()
                .execute(
                    () -> {
                      if (rc == Code.OK.intValue()) {
                        context.stats().add(StoreStats.Count.CLAIMS_SWEPT, 1);
                        LOG.atInfo()
                            .addKeyValue("claim", name)
                            .addKeyValue("owner", orphan.claim().owner())
                            .log("removed the claim of a session that is long dead");
                      }
                    }),
        null);
  }
}
