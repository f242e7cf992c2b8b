package io.lockkeeper.server.zookeeper.client;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * Checks once whether the store can use the nodes that everything is kept under. With credentials
 * it refuses to as long as one of those at or below the root is open to everybody: strangers could
 * read session passwords there, and delete entries. A locks path elsewhere can be shared with
 * others on purpose and is not checked for that.
 */
final class RootAccess {

  /** A name that no lock, lease, claim or coordinator has. */
  private static final String TRIAL = "/.trial";

  /** No node has it: what comes before the check of it is tried, and never done. */
  private static final int IMPOSSIBLE_VERSION = Integer.MAX_VALUE;

  private final StoreContext context;
  private final Handle handle;
  private final Runnable granted;
  private final Consumer<String> refused;
  private final Runnable unanswered;
  private final List<String> ours;

  /**
   * Prepares; one of the three is called in the end.
   *
   * @param refused hears what we may not, human-readable
   */
  RootAccess(
      StoreContext context,
      Handle handle,
      Runnable granted,
      Consumer<String> refused,
      Runnable unanswered) {
    this.context = context;
    this.handle = handle;
    this.granted = granted;
    this.refused = refused;
    this.unanswered = unanswered;
    ours = context.paths().layout().stream().filter(context.paths()::isOurs).toList();
  }

  void start() {
    if (context.settings().access().isAuthenticated()) {
      look(0);
    } else {
      tryAll();
    }
  }

  private void look(int index) {
    if (index == ours.size()) {
      tryAll();
      return;
    }
    handle.getACL(
        ours.get(index),
        null,
        (rc, path, ctx, acl, stat) ->
            context.executor().execute(() -> onAcl(index, rc, acl == null ? List.of() : acl)),
        null);
  }

  private void onAcl(int index, int rc, List<ACL> acl) {
    if (rc == Code.NOAUTH.intValue()) {
      refuse(ours.get(index), Optional.empty());
    } else if (rc != Code.OK.intValue()) {
      unanswered.run();
    } else if (isOpen(acl)) {
      refused.accept(
          ours.get(index)
              + " is open to everybody: stop all coordinators, wait until their sessions have"
              + " expired, run 'addauth digest USER:PASSWORD' (not needed with SASL) and 'setAcl -R "
              + context.paths().root()
              + " auth::cdrwa' in zkCli.sh, and start them with credentials");
    } else {
      look(index + 1);
    }
  }

  /** Returns whether everybody can change a node or what is under it. */
  private static boolean isOpen(List<ACL> acl) {
    return acl.stream()
        .anyMatch(
            entry ->
                entry.getId().equals(Ids.ANYONE_ID_UNSAFE)
                    && (entry.getPerms() & ~Perms.READ) != 0);
  }

  /** Tries to create and delete something under each node, in a transaction that always fails. */
  private void tryAll() {
    List<String> parents = context.paths().parents();
    List<Op> trial = new ArrayList<>();
    for (String parent : parents) {
      trial.add(
          Op.create(parent + TRIAL, new byte[0], context.paths().acl(), CreateMode.PERSISTENT));
      trial.add(Op.delete(parent + TRIAL, Fence.ANY));
    }
    trial.add(Op.check(parents.get(0), IMPOSSIBLE_VERSION));
    handle.multi(
        trial,
        (rc, path, ctx, results) ->
            context
                .executor()
                .execute(() -> onTried(parents, MultiReply.of(rc, results, trial.size()))),
        null);
  }

  private void onTried(List<String> parents, MultiReply reply) {
    if (!(reply instanceof MultiReply.Culprit culprit)) {
      unanswered.run();
    } else if (culprit.code() == Code.NOAUTH.intValue()
        || culprit.code() == Code.INVALIDACL.intValue()) {
      describe(parents.get(culprit.index() / 2));
    } else if (culprit.code() != Code.NONODE.intValue()
        && ResultCode.of(culprit.code()) == ResultCode.REFUSED) {
      // By the check, or by what is no matter of access: somebody's node of that name, or a quota.
      granted.run();
    } else {
      unanswered.run();
    }
  }

  /** Says that we may not use a node, and what its access list wants, if that may be read. */
  void describe(String path) {
    handle.getACL(
        path,
        null,
        (rc, at, ctx, acl, stat) ->
            context.executor().execute(() -> refuse(path, Optional.ofNullable(acl))),
        null);
  }

  private void refuse(String path, Optional<List<ACL>> acl) {
    String wanted =
        acl.map(RootAccess::inWords).orElse("even the list itself may not be read by us");
    refused.accept(
        "the access list of "
            + path
            + " does not let us in, who are "
            + new ClientAccess(context.settings().access()).identity()
            + "; it names: "
            + wanted);
  }

  private static String inWords(@Nullable List<ACL> acl) {
    return acl == null
        ? ""
        : acl.stream()
            .map(entry -> entry.getId().getScheme() + ":" + withoutSecret(entry.getId().getId()))
            .distinct()
            .collect(Collectors.joining(", "));
  }

  /** Of {@code user:hash} the user alone. */
  private static String withoutSecret(String id) {
    return id.replaceFirst(":.*", "");
  }
}
