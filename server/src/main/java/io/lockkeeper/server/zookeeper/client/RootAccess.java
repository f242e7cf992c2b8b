package io.lockkeeper.server.zookeeper.client;

import io.lockkeeper.server.zookeeper.record.StorePaths;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks once whether we may use the nodes that everything is kept under. With credentials, those
 * below our root that are open to everybody are made ours first, with the records in them: they are
 * from before there were credentials. The root is the last: as long as it is open, whoever starts
 * does all of it again. Claims are looked at even where nothing else is open: they are few, and
 * hold the passwords of sessions. A locks path elsewhere belongs to others too, and stays as it is.
 */
final class RootAccess {

  private static final Logger LOG = LoggerFactory.getLogger(RootAccess.class);

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
  private final Deque<String> open = new ArrayDeque<>();
  private boolean somethingWasOpen;
  private boolean recordsAreOurs;

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
      tightenNext();
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
    } else {
      if (isOpen(acl)) {
        open.push(ours.get(index));
        somethingWasOpen = true;
      }
      look(index + 1);
    }
  }

  /** Returns whether everybody may change what is under a node, or who may. */
  static boolean isOpen(List<ACL> acl) {
    return acl.stream()
        .anyMatch(
            entry ->
                entry.getId().equals(Ids.ANYONE_ID_UNSAFE)
                    && (entry.getPerms() & ~Perms.READ) != 0);
  }

  /** Goes from below upwards. Once a directory is ours, nothing open can come into it any more. */
  private void tightenNext() {
    boolean directoriesAreOurs = open.isEmpty() || open.peek().equals(context.paths().root());
    if (directoriesAreOurs && !recordsAreOurs) {
      recordsAreOurs = true;
      new OpenRecords(context, handle, records(), this::tightenNext, unanswered).start();
    } else if (open.isEmpty()) {
      tryAll();
    } else {
      tighten(open.pop());
    }
  }

  private List<String> records() {
    StorePaths paths = context.paths();
    return somethingWasOpen
        ? List.of(paths.sessions(), paths.leases(), paths.freezes())
        : List.of(paths.sessions());
  }

  private void tighten(String node) {
    handle.setACL(
        node,
        context.paths().acl(),
        Fence.ANY,
        (rc, path, ctx, stat) -> context.executor().execute(() -> onTightened(node, rc)),
        null);
  }

  private void onTightened(String node, int rc) {
    if (rc == Code.OK.intValue()) {
      LOG.atInfo()
          .addKeyValue("path", node)
          .log("a node was open to everybody, and is ours alone now");
      tightenNext();
    } else if (rc == Code.NOAUTH.intValue() || rc == Code.INVALIDACL.intValue()) {
      refuse(node, Optional.empty());
    } else {
      unanswered.run();
    }
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
