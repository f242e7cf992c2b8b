package io.lockkeeper.server.zookeeper.client;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.ACL;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the records in some directories ours that are open to everybody: they are from before there
 * were credentials. A bounded number at a time. Lives on the store's thread.
 */
final class OpenRecords {

  private static final Logger LOG = LoggerFactory.getLogger(OpenRecords.class);
  private static final int MAX_OUTSTANDING = 256;

  private final StoreContext context;
  private final Handle handle;
  private final Runnable done;
  private final Runnable unanswered;
  private final Deque<String> directories;
  private final Deque<String> records = new ArrayDeque<>();
  private int outstanding;
  private int tightened;
  private boolean over;

  /** Prepares; one of the two is called in the end. */
  OpenRecords(
      StoreContext context,
      Handle handle,
      List<String> directories,
      Runnable done,
      Runnable unanswered) {
    this.context = context;
    this.handle = handle;
    this.done = done;
    this.unanswered = unanswered;
    this.directories = new ArrayDeque<>(directories);
  }

  void start() {
    proceed();
  }

  private void proceed() {
    while (outstanding < MAX_OUTSTANDING && !records.isEmpty()) {
      outstanding++;
      look(records.removeFirst());
    }
    if (outstanding > 0) {
      return;
    }
    if (directories.isEmpty()) {
      end(done);
    } else {
      outstanding++;
      list(directories.removeFirst());
    }
  }

  private void list(String directory) {
    handle.getChildren(
        directory,
        false,
        (rc, path, ctx, names) ->
            context
                .executor()
                .execute(() -> onListed(directory, rc, names == null ? List.of() : names)),
        null);
  }

  private void onListed(String directory, int rc, List<String> names) {
    names.forEach(name -> records.add(directory + "/" + name));
    onAnswer(rc);
  }

  private void look(String record) {
    handle.getACL(
        record,
        null,
        (rc, path, ctx, acl, stat) ->
            context.executor().execute(() -> onAcl(record, rc, acl == null ? List.of() : acl)),
        null);
  }

  private void onAcl(String record, int rc, List<ACL> acl) {
    if (over || !RootAccess.isOpen(acl)) {
      onAnswer(rc);
      return;
    }
    handle.setACL(
        record,
        context.paths().acl(),
        Fence.ANY,
        (result, path, ctx, stat) -> context.executor().execute(() -> onTightened(result)),
        null);
  }

  private void onTightened(int rc) {
    tightened += rc == Code.OK.intValue() ? 1 : 0;
    onAnswer(rc);
  }

  private void onAnswer(int rc) {
    outstanding--;
    if (over) {
      return;
    }
    // What has gone since, or is somebody's who has closed it, is open to nobody.
    if (rc == Code.OK.intValue() || rc == Code.NONODE.intValue() || rc == Code.NOAUTH.intValue()) {
      proceed();
    } else {
      end(unanswered);
    }
  }

  private void end(Runnable end) {
    over = true;
    if (tightened > 0) {
      LOG.atInfo()
          .addKeyValue("records", tightened)
          .log("records of sessions, leases and freezes were open to everybody, and are ours now");
    }
    end.run();
  }
}
