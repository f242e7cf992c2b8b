package io.lockkeeper.server.zookeeper.session;

import io.lockkeeper.server.zookeeper.client.RootNodes;
import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.member.MemberNode;

/**
 * What lock sessions need of the rest of the store.
 *
 * @param context what all parts share
 * @param rootNodes the nodes below which everything is kept
 * @param claims removes the claim records of sessions that are gone
 * @param member the node that says that this coordinator lives
 * @param left the sessions that were ours and were left as they are
 */
public record SessionContext(
    StoreContext context,
    RootNodes rootNodes,
    ClaimRemoval claims,
    MemberNode member,
    LeftSessions left) {

  /** Makes one for a new store. */
  public SessionContext(
      StoreContext context, RootNodes rootNodes, ClaimRemoval claims, MemberNode member) {
    this(
        context,
        rootNodes,
        claims,
        member,
        new LeftSessions(context.settings().times().sessionTimeout()));
  }
}
