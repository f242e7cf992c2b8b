package io.lockkeeper.server.zookeeper.member;

import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.commit.DoubtResolution;
import io.lockkeeper.server.zookeeper.record.ClaimRecord;
import io.lockkeeper.server.zookeeper.record.MemberRecord;
import io.lockkeeper.server.zookeeper.record.VersionedClaim;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.zookeeper.AsyncCallback.DataCallback;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads all claims, and then all members. In that order: a coordinator registers before it claims
 * anything, so that the owner of a claim that was seen is seen too if it lives.
 */
final class MemberScan {

  private static final Logger LOG = LoggerFactory.getLogger(MemberScan.class);
  private static final int MAX_OUTSTANDING = 128;

  private final StoreContext context;
  private final Handle handle;
  private final Map<String, MemberRecord> known;
  private final Consumer<Optional<Seen>> done;
  private final Map<String, VersionedClaim> claims = new HashMap<>();
  private final Map<String, MemberRecord> members = new HashMap<>();
  private boolean over;

  /**
   * What was seen.
   *
   * @param claims the claims by name; those that cannot be understood are left out
   * @param members the coordinators by id
   */
  record Seen(Map<String, VersionedClaim> claims, Map<String, MemberRecord> members) {}

  /**
   * Scans once; {@code done} gets nothing if that failed.
   *
   * @param known members whose data need not be read again: they never change
   */
  MemberScan(
      StoreContext context,
      Handle handle,
      Map<String, MemberRecord> known,
      Consumer<Optional<Seen>> done) {
    this.context = context;
    this.handle = handle;
    this.known = known;
    this.done = done;
  }

  void start() {
    String parent = context.paths().sessions();
    handle.getChildren(
        parent,
        false,
        (rc, path, ctx, names) ->
            onStore(
                rc,
                () ->
                    new Reading(parent, orNone(names), this::addClaim, this::listMembers)
                        .proceed()),
        null);
  }

  private void listMembers() {
    String parent = context.paths().coordinators();
    // The watch tells of the next change, also of one while the connection was lost.
    handle.getChildren(
        parent,
        true,
        (rc, path, ctx, names) -> onStore(rc, () -> readMembers(parent, orNone(names))),
        null);
  }

  private void readMembers(String parent, List<String> names) {
    members.putAll(known);
    members.keySet().retainAll(names);
    List<String> unread = names.stream().filter(name -> !members.containsKey(name)).toList();
    new Reading(
            parent,
            unread,
            (name, data, version) -> members.put(name, MemberRecord.read(data)),
            () -> end(Optional.of(new Seen(claims, members))))
        .proceed();
  }

  private void addClaim(String name, byte[] data, int version) {
    Optional<ClaimRecord> record = ClaimRecord.read(name, data);
    if (record.isPresent()) {
      claims.put(name, new VersionedClaim(record.get(), version));
    } else {
      LOG.atDebug().addKeyValue("claim", name).log("ignoring a claim that cannot be understood");
    }
  }

  private static List<String> orNone(@Nullable List<String> names) {
    return names == null ? List.of() : names;
  }

  private void onStore(int rc, Runnable next) {
    context
        .executor()
        .execute(
            () -> {
              if (rc == Code.OK.intValue()) {
                next.run();
              } else {
                end(Optional.empty());
              }
            });
  }

  private void end(Optional<Seen> seen) {
    if (!over) {
      over = true;
      done.accept(seen);
    }
  }

  /** Hears one node that was read. */
  private interface Reader {
    void read(String name, byte[] data, int version);
  }

  /** Reads children, a bounded number at a time. */
  private final class Reading {
    private final String parent;
    private final Deque<String> left;
    private final Reader each;
    private final Runnable then;
    private int outstanding;

    Reading(String parent, List<String> names, Reader each, Runnable then) {
      this.parent = parent;
      this.each = each;
      this.then = then;
      left = new ArrayDeque<>(names);
    }

    void proceed() {
      while (outstanding < MAX_OUTSTANDING && !left.isEmpty()) {
        outstanding++;
        String name = left.removeFirst();
        DataCallback answer =
            (rc, path, ctx, data, stat) ->
                context.executor().execute(() -> onRead(name, rc, data, stat));
        handle.getData(parent + "/" + name, false, answer, null);
      }
      if (outstanding == 0) {
        then.run();
      }
    }

    private void onRead(String name, int rc, byte @Nullable [] data, @Nullable Stat stat) {
      outstanding--;
      if (rc == Code.OK.intValue() && stat != null) {
        each.read(name, DoubtResolution.orEmpty(data), stat.getVersion());
      } else if (rc != Code.NONODE.intValue()) {
        end(Optional.empty());
      }
      if (!over) {
        proceed();
      }
    }
  }
}
