package io.lockkeeper.server.zookeeper.session;

import io.lockkeeper.server.zookeeper.client.Fence;
import io.lockkeeper.server.zookeeper.client.MultiReply;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.commit.DoubtResolution;
import io.lockkeeper.server.zookeeper.commit.GroupCommit;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.Op;

/**
 * One attempt to make a session usable over a connection: a check of the claim, which is barrier
 * and proof; then the coordinator is told; then what is in doubt is resolved. Ends in one call to
 * its listener. Lives on the store's thread.
 */
final class SessionProof {

  private final StoreContext context;
  private final SessionAttachment attachment;
  private final GroupCommit commit;
  private final SessionStart beginning;
  private final ProofListener listener;
  private boolean over;

  /** Hears how the attempt ends. */
  interface ProofListener {
    /** The session is ours, and nothing on it is in doubt. */
    void onProved();

    /** It has to be tried again, perhaps over another connection. */
    void onUnproved();

    /** The claim is somebody else's. */
    void onFenceFailed();

    /** The session is ours, and owns something or nothing. */
    void onCounted(boolean empty);
  }

  SessionProof(
      StoreContext context,
      SessionAttachment attachment,
      GroupCommit commit,
      SessionStart beginning,
      ProofListener listener) {
    this.context = context;
    this.attachment = attachment;
    this.commit = commit;
    this.beginning = beginning;
    this.listener = listener;
  }

  void start(Op fence) {
    attachment.send(List.of(fence), this::onReply);
  }

  /** Proves once more a session that is open already. */
  static void again(
      SessionAttachment attachment, Op fence, SessionEvents events, ProofListener listener) {
    attachment.send(
        List.of(fence),
        (reply, sentAtNanos) -> {
          if (reply instanceof MultiReply.Committed) {
            events.proved(sentAtNanos, attachment, true);
          } else if (Fence.isBroken(reply)) {
            listener.onFenceFailed();
          }
        });
  }

  /** Makes it tell nothing more. */
  void cancel() {
    over = true;
  }

  private void onReply(MultiReply reply, long sentAtNanos) {
    if (over) {
      return;
    }
    if (Fence.isBroken(reply)) {
      end(listener::onFenceFailed);
    } else if (!(reply instanceof MultiReply.Committed)) {
      fail();
    } else {
      beginning.tellProved(sentAtNanos, this::resolveDoubts, this::fail);
    }
  }

  private void resolveDoubts() {
    if (!over) {
      new DoubtResolution(attachment.handle(), context, commit, this::succeed, this::fail).start();
    }
  }

  private void succeed() {
    if (!over) {
      listener.onProved();
    }
  }

  private void fail() {
    end(listener::onUnproved);
  }

  /** Goes on, once the session is proved: finds out whether it owns anything. */
  void countOwned() {
    attachment.listOwned(this::onListed);
  }

  private void onListed(Optional<List<String>> owned) {
    if (over) {
      return;
    }
    if (owned.isEmpty()) {
      fail();
    } else {
      end(() -> listener.onCounted(owned.get().isEmpty()));
    }
  }

  private void end(Runnable outcome) {
    if (!over) {
      over = true;
      outcome.run();
    }
  }
}
