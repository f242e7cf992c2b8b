/**
 * The client library: locks that know when they may no longer be relied upon.
 *
 * <p>{@link io.lockkeeper.client.LockkeeperClient} asks for what a {@link
 * io.lockkeeper.client.LockRequest} says, of one lock or several, and gives a {@link
 * io.lockkeeper.client.LockHandle}: token, validity, release. Views of locks have the JDK's
 * interfaces:
 *
 * <ul>
 *   <li>{@link io.lockkeeper.client.LockkeeperLock}, a reentrant {@code Lock} of one lock or many
 *   <li>{@link io.lockkeeper.client.LockkeeperReadWriteLock}, a {@code ReadWriteLock}
 *   <li>{@link io.lockkeeper.client.LockkeeperSemaphore}, like {@code Semaphore}
 *   <li>{@link io.lockkeeper.client.LeaderElection}, a lock whose holder leads
 * </ul>
 *
 * <p>Whatever waits has a counterpart that returns a future.
 */
@NullMarked
package io.lockkeeper.client;

import org.jspecify.annotations.NullMarked;
