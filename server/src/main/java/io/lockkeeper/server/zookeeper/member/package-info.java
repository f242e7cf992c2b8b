/** Who else is there: the member session, the other coordinators, and sessions without an owner. */
@NullMarked
package io.lockkeeper.server.zookeeper.member;

import org.jspecify.annotations.NullMarked;
