package io.lockkeeper.server.zookeeper.member;

import io.lockkeeper.server.zookeeper.client.Handle;
import io.lockkeeper.server.zookeeper.client.NodeReader;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.record.ClaimRecord;
import io.lockkeeper.server.zookeeper.record.MemberRecord;
import io.lockkeeper.server.zookeeper.record.VersionedClaim;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads all claims, and then all members. In that order: a coordinator registers before it claims
 * anything, so that the owner of a claim that was seen is seen too if it lives.
 */
final class MemberScan {

  private static final Logger LOG = LoggerFactory.getLogger(MemberScan.class);

  private final StoreContext context;
  private final Handle handle;
  private final Map<String, MemberRecord> known;
  private final Consumer<Optional<Seen>> done;
  private final Map<String, VersionedClaim> claims = new HashMap<>();
  private final Map<String, MemberRecord> members = new HashMap<>();

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
    NodeReader reader = reader(this::readMembers);
    reader.list(
        parent,
        false,
        found ->
            namesOrFail(reader, found)
                .forEach(
                    name ->
                        reader.read(
                            parent + "/" + name,
                            node -> node.ifPresent(claim -> addClaim(name, claim)))));
  }

  private NodeReader reader(Runnable then) {
    return new NodeReader(context, handle, then, rc -> done.accept(Optional.empty()));
  }

  /** Without the parent nobody's absence means anything. */
  private static List<String> namesOrFail(NodeReader reader, Optional<List<String>> found) {
    if (found.isEmpty()) {
      reader.fail(Code.NONODE.intValue());
    }
    return found.orElse(List.of());
  }

  private void addClaim(String name, NodeReader.Node node) {
    Optional<ClaimRecord> record = ClaimRecord.read(name, node.data());
    if (record.isPresent()) {
      claims.put(name, new VersionedClaim(record.get(), node.stat().getVersion()));
    } else {
      LOG.atDebug().addKeyValue("claim", name).log("ignoring a claim that cannot be understood");
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
          members.putAll(known);
          members.keySet().retainAll(names);
          names.stream()
              .filter(name -> !members.containsKey(name))
              .toList()
              .forEach(
                  name ->
                      reader.read(
                          parent + "/" + name,
                          node ->
                              node.ifPresent(
                                  member -> members.put(name, MemberRecord.read(member.data())))));
        });
  }
}
