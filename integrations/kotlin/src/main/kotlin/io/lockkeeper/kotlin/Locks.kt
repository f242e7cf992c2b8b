package io.lockkeeper.kotlin

import io.lockkeeper.client.LockHandle
import io.lockkeeper.client.LockLostException
import io.lockkeeper.client.LockRequest
import io.lockkeeper.client.LockkeeperClient
import io.lockkeeper.client.NotAcquiredException
import io.lockkeeper.client.NotAcquiredReason
import java.util.concurrent.CompletableFuture
import kotlin.coroutines.resumeWithException
import kotlin.time.Duration
import kotlin.time.toJavaDuration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.cancel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.future.await
import kotlinx.coroutines.isActive
import kotlinx.coroutines.suspendCancellableCoroutine
import kotlinx.coroutines.withContext

/**
 * Runs [block] while it holds an exclusive lock, and releases the lock before this returns or
 * throws. Waits as long as it takes, and blocks no thread.
 *
 * ```
 * val left = client.withLock("orders/42") { lock -> stock.decrement(item, lock.fencingToken()) }
 * ```
 *
 * The block has a scope of its own: the lock is held until all coroutines that it starts in the
 * scope have ended. When the lock is lost, the scope is cancelled, and this throws
 * [LockLostException]; so it does if the lock was lost by the end of the block, even if the block
 * returned: what it did may not have been protected. What the block has thrown is suppressed by
 * that exception, but for an [Error], which suppresses it, and for cancellations, which it stands
 * for. A block that ignores cancellation is waited for: nobody can stop it.
 *
 * Cancelling the caller while it waits withdraws the request, in the background; a grant that comes
 * meanwhile is released. Cancelling it while it holds the lock cancels the block. It stays a
 * cancellation, even if the lock is lost meanwhile. The release is not cancelled: it is waited for
 * until a server has confirmed it, or the lease is over, which frees the lock as well.
 *
 * Not reentrant, as `kotlinx.coroutines.sync.Mutex` is not: coroutines change threads, so nobody
 * but the program knows that two requests are of one task. A block that asks for its own lock again
 * waits for itself. Where that is needed, name an [owner][LockRequest.owner] in both requests, and
 * use [withLocks].
 *
 * @param name as [LockRequest.of] says
 * @return what the block returns
 * @throws LockLostException if the lock was lost by the end of the block
 * @throws NotAcquiredException if the queue is full
 * @throws io.lockkeeper.client.LeaseLostException if the lease ended while waiting: call again
 * @throws io.lockkeeper.client.ServerUnavailableException if no server answered within the request
 *   timeout
 * @throws io.lockkeeper.client.RequestRefusedException if the server refuses the request, for good
 *   or for the moment
 * @throws io.lockkeeper.client.LockkeeperException if the client is closed meanwhile, or has 10,000
 *   requests and locks
 * @throws IllegalArgumentException if the name is malformed
 * @throws IllegalStateException if the client is closed
 */
public suspend fun <T> LockkeeperClient.withLock(
  name: String,
  block: suspend CoroutineScope.(LockHandle) -> T,
): T = withLocks(LockRequest.of(name), block)

/**
 * Like [withLock], for whatever a request asks for: one lock or several, read or write, permits, a
 * wait limit, an owner. Not named `withLock`, since that is the client's own method, which blocks
 * its thread. Errors are those of [withLock], and:
 *
 * @throws NotAcquiredException if the request's wait limit ran out, the queue is full, or the wait
 *   would never end: see [LockRequest.checkForDeadlock]
 */
public suspend fun <T> LockkeeperClient.withLocks(
  request: LockRequest,
  block: suspend CoroutineScope.(LockHandle) -> T,
): T = lockSuspending(request).holding(block)

/**
 * Runs [block] as [withLock] does if the lock can be had within [waitLimit]. Where no server can be
 * reached, the wait is longer by up to the request timeout. Errors are those of [withLock].
 *
 * ```
 * val left = client.tryWithLock("orders/42") { lock -> stock.decrement(item, lock.fencingToken()) }
 *   ?: return SoldElsewhere
 * ```
 *
 * @param waitLimit zero, the default, to 7 days; zero: only if the lock is free now
 * @return what the block returns, which is never null; null: the lock was not acquired in time
 * @throws IllegalArgumentException if the limit is out of range
 */
public suspend fun <T : Any> LockkeeperClient.tryWithLock(
  name: String,
  waitLimit: Duration = Duration.ZERO,
  block: suspend CoroutineScope.(LockHandle) -> T,
): T? = tryWithLocks(LockRequest.of(name).waitAtMost(waitLimit.toJavaDuration()), block)

/**
 * Like [tryWithLock], for whatever a request asks for, within the request's wait limit. A request
 * without one is granted now or not at all. Errors are those of [withLocks].
 */
public suspend fun <T : Any> LockkeeperClient.tryWithLocks(
  request: LockRequest,
  block: suspend CoroutineScope.(LockHandle) -> T,
): T? {
  val limit = request.waitLimit().orElse(java.time.Duration.ZERO)
  val handle =
    try {
      lockSuspending(request.waitAtMost(limit))
    } catch (e: NotAcquiredException) {
      if (e.reason() == NotAcquiredReason.TIMED_OUT) return null
      throw e
    }
  return handle.holding(block)
}

/**
 * Acquires an exclusive lock as [withLock] does, for whoever must hold it across functions. The
 * caller releases it: by [LockHandle.releaseAsync], since [LockHandle.close] blocks its thread.
 * Nothing is cancelled when the lock is lost: see [LockHandle.lost] and [LockHandle.checkValid].
 *
 * A limit of the wait belongs into the request. A `withTimeout` around this may end in the moment
 * in which this has returned: then nobody has the handle, and the lock is held until the lease
 * ends.
 */
public suspend fun LockkeeperClient.lockSuspending(name: String): LockHandle =
  lockSuspending(LockRequest.of(name))

/** Like the variant with a name, for whatever a request asks for. Errors are as of [withLocks]. */
public suspend fun LockkeeperClient.lockSuspending(request: LockRequest): LockHandle =
  acquire(request).awaitOr { it.releaseAsync() }

/**
 * Waits for the future. Cancelled, it cancels the future; a value that comes in that moment, and
 * that the caller will never see, is given to [discard].
 */
internal suspend fun <T : Any> CompletableFuture<T>.awaitOr(discard: (T) -> Unit): T =
  suspendCancellableCoroutine { continuation ->
    continuation.invokeOnCancellation { cancel(false) }
    whenComplete { value, failure ->
      if (failure == null) {
        continuation.resume(value) { _, unseen, _ -> discard(unseen) }
      } else {
        continuation.resumeWithException(failure)
      }
    }
  }

/** Runs [block] under this lock, and releases the lock: see [withLock]. */
internal suspend fun <T> LockHandle.holding(block: suspend CoroutineScope.(LockHandle) -> T): T {
  val outcome = runCatching {
    coroutineScope {
      val cancelBlock = Runnable { cancel("lock \"${name()}\" is lost") }
      lost().thenRun(cancelBlock)
      if (!isValid) cancelBlock.run() // Its deadline passed while the coroutine was not resumed.
      ensureActive()
      block(this@holding)
    }
  }
  val loss = loss()
  withContext(NonCancellable) { releaseAsync().await() }
  return if (loss == null) outcome.getOrThrow() else throw lost(loss, outcome.exceptionOrNull())
}

/** Returns how the lock is lost, if it is. */
private fun LockHandle.loss(): LockLostException? =
  try {
    checkValid()
    null
  } catch (e: LockLostException) {
    e
  } catch (_: IllegalStateException) {
    null // The block has released it.
  }

/** Returns what the caller is told of a [loss] of the lock, after the block has ended so. */
private suspend fun lost(loss: LockLostException, failure: Throwable?): Throwable {
  if (failure is Error) {
    failure.addSuppressed(loss)
    return failure
  }
  // A new one: the job's own may be thrown in many places.
  val told =
    if (currentCoroutineContext().isActive) loss else CancellationException(loss.message, loss)
  // A cancellation is a consequence of the loss, and says nothing new.
  if (failure != null && failure !is CancellationException) told.addSuppressed(failure)
  return told
}
