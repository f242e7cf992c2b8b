package io.lockkeeper.server.zookeeper;

/**
 * What lock sessions need of the rest of the store.
 *
 * @param context what all parts share
 * @param layout the nodes below which everything is kept
 * @param claims removes the claim records of sessions that are gone
 * @param member the node that says that this coordinator lives
 */
record SessionServices(
    StoreContext context, Layout layout, ClaimRemoval claims, MemberNode member) {}
