package io.lockkeeper.server.zookeeper.member;

import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.NodeReader;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.record.ClaimRecord;
import io.lockkeeper.server.zookeeper.record.MemberRecord;
import io.lockkeeper.server.zookeeper.record.StorePaths;
import io.lockkeeper.server.zookeeper.record.VersionedClaim;
import io.lockkeeper.server.zookeeper.record.ZooKeeperSettings;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;

/**
 * Reads all claims, and then all members. In that order: a coordinator registers before it claims
 * anything, so that the owner of a claim that was seen is seen too if it lives.
 *
 * <p>What is no claim and no member is told of once, and left alone: nobody may make us adopt
 * anything, or wait for anybody, by a node that looks a little like one of ours.
 */
final class MemberScan {

  private final StoreContext context;
  private final Handle handle;
  private final Seen known;
  private final Consumer<Optional<Seen>> done;
  private final Map<String, ReadClaim> claims = new HashMap<>();
  private final Map<String, MemberRecord> members = new HashMap<>();

  /**
   * A claim as it was read.
   *
   * @param mzxid the transaction that wrote it: while it is the newest, the claim is as it was
   * @param claim what it says; empty if it cannot be understood
   */
  record ReadClaim(long mzxid, Optional<VersionedClaim> claim) {}

  /**
   * What was seen.
   *
   * @param read the claims by name
   * @param members the coordinators by id
   */
  record Seen(Map<String, ReadClaim> read, Map<String, MemberRecord> members) {

    /** Returns the claims that can be understood, by name. */
    Map<String, VersionedClaim> claims() {
      Map<String, VersionedClaim> understood = new HashMap<>();
      read.forEach((name, one) -> one.claim().ifPresent(claim -> understood.put(name, claim)));
      return understood;
    }
  }

  /**
   * Scans once; {@code done} gets nothing if that failed.
   *
   * @param known what was seen the last time: members never change, and claims not without a
   *     transaction
   */
  MemberScan(StoreContext context, Handle handle, Seen known, Consumer<Optional<Seen>> done) {
    this.context = context;
    this.handle = handle;
    this.known = known;
    this.done = done;
  }

  void start() {
    String parent = context.paths().sessions();
    NodeReader reader = reader(this::readMembers);
    reader.list(
        parent,
        false,
        found -> namesOrFail(reader, found).forEach(name -> readClaim(reader, parent, name)));
  }

  private NodeReader reader(Runnable then) {
    return new NodeReader(context, handle, then, rc -> done.accept(Optional.empty())).tolerant();
  }

  /** Without the parent nobody's absence means anything. */
  private static List<String> namesOrFail(NodeReader reader, Optional<List<String>> found) {
    if (found.isEmpty()) {
      reader.fail(Code.NONODE.intValue());
    }
    return found.orElse(List.of());
  }

  private void readClaim(NodeReader reader, String parent, String name) {
    String path = parent + "/" + name;
    if (!StorePaths.isClaimName(name)) {
      context.problems().foreign(path, "it is no claim of a session");
      return;
    }
    Optional<ReadClaim> before = Optional.ofNullable(known.read().get(name));
    reader.readRecord(
        path,
        before.map(ReadClaim::mzxid).orElse(0L),
        node -> node.ifPresent(claim -> addClaim(name, claim, before)));
  }

  private void addClaim(String name, NodeReader.Node node, Optional<ReadClaim> before) {
    long mzxid = node.stat().getMzxid();
    Optional<ReadClaim> same = before.filter(claim -> claim.mzxid() == mzxid);
    ReadClaim read =
        same.orElseGet(
            () ->
                new ReadClaim(
                    mzxid,
                    ClaimRecord.read(name, node.data())
                        .map(record -> new VersionedClaim(record, node.stat().getVersion()))));
    claims.put(name, read);
    if (read.claim().isEmpty()) {
      context.problems().foreign(node.path(), "it is no claim that can be understood");
    }
  }

  private void readMembers() {
    String parent = context.paths().coordinators();
    NodeReader reader = reader(() -> done.accept(Optional.of(new Seen(claims, members))));
    // The watch tells of the next change, also of one while the connection was lost.
    reader.list(
        parent,
        true,
        found -> {
          List<String> names = namesOrFail(reader, found);
          members.putAll(known.members());
          members.keySet().retainAll(names);
          names.stream()
              .filter(name -> !members.containsKey(name))
              .toList()
              .forEach(name -> readMember(reader, parent + "/" + name, name));
        });
  }

  private void readMember(NodeReader reader, String path, String name) {
    if (!ZooKeeperSettings.Member.isCoordinatorId(name)) {
      context.problems().foreign(path, "no coordinator has such an id");
      return;
    }
    reader.readRecord(path, 0, node -> node.ifPresent(member -> addMember(name, member)));
  }

  private void addMember(String name, NodeReader.Node node) {
    if (node.stat().getEphemeralOwner() == 0) {
      context.problems().foreign(node.path(), "no coordinator has made it: it has no session");
      return;
    }
    MemberRecord record = MemberRecord.read(node.data());
    if (!record.hasAddress()) {
      // Whoever it is lives: its sessions are its own.
      context.problems().foreign(node.path(), "it has no address at which to reach a coordinator");
    }
    members.put(name, record);
  }
}
