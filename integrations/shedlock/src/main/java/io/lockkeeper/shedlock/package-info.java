/**
 * Lockkeeper as a store of ShedLock's locks: {@link io.lockkeeper.shedlock.LockkeeperLockProvider}.
 */
@NullMarked
package io.lockkeeper.shedlock;

import org.jspecify.annotations.NullMarked;
