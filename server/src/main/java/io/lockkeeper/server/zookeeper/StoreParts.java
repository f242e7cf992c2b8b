package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.zookeeper.client.StoreContext;
import io.lockkeeper.server.zookeeper.member.MemberNode;
import io.lockkeeper.server.zookeeper.member.Members;
import io.lockkeeper.server.zookeeper.mirror.MirrorFeed;
import io.lockkeeper.server.zookeeper.mirror.MirrorReads;
import io.lockkeeper.server.zookeeper.session.SessionConnections;

/**
 * The parts of a store that was started.
 *
 * @param context what all share
 * @param mirror tells the queues
 * @param reads reads
 * @param changes writes that belong to no lock session
 * @param sessions the lock sessions
 * @param member the member node
 * @param members the other coordinators
 * @param reaper deletes what is empty
 */
record StoreParts(
    StoreContext context,
    MirrorFeed mirror,
    MirrorReads reads,
    RetriedChanges changes,
    SessionConnections sessions,
    MemberNode member,
    Members members,
    DirectoryReaper reaper) {}
