package io.lockkeeper.server.zookeeper;

/**
 * The parts of a store that was started.
 *
 * @param context what all share
 * @param mirror tells the queues
 * @param questions reads
 * @param errands writes that belong to no lock session
 * @param sessions the lock sessions
 * @param member the member node
 * @param peers the other coordinators
 * @param reaper deletes what is empty
 */
record StoreParts(
    StoreContext context,
    MirrorFeed mirror,
    MirrorQuestions questions,
    Errands errands,
    LockSessions sessions,
    MemberNode member,
    Peers peers,
    Reaper reaper) {}
