package io.lockkeeper.kotlin

import io.lockkeeper.client.LockChange
import io.lockkeeper.client.LockInfo
import io.lockkeeper.client.LockkeeperClient
import io.lockkeeper.client.LockkeeperException
import io.lockkeeper.client.WatchListener
import kotlinx.coroutines.channels.SendChannel
import kotlinx.coroutines.channels.awaitClose
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.buffer
import kotlinx.coroutines.flow.callbackFlow

/** How many events may wait for a collector, unless it asks for another buffer. */
private const val ROOM = 1024

/** What a watch tells: see [LockkeeperClient.changes]. */
public sealed interface WatchEvent {

  /** Part of the snapshot that comes first, and again after a [Gap]: one lock that is in use. */
  public data class InUse(val lock: LockInfo) : WatchEvent

  /** The snapshot is complete: changes follow, and none that comes later is missed. */
  public data object SnapshotEnd : WatchEvent

  /** A lock has changed. */
  public data class Changed(val change: LockChange) : WatchEvent

  /** Events may be missing: forget what was known, a new snapshot follows. */
  public data class Gap(val reason: String) : WatchEvent
}

/**
 * Watches all locks whose names begin with [prefix]: first a snapshot, then every change. A
 * collection is a watch of its own, which ends with it; it never ends by itself, and a broken
 * connection is resumed.
 *
 * Up to 1,024 events wait for the collector, who never delays the client's other callbacks; a
 * `buffer` of the caller's own makes room for more. Where it falls further behind, the flow fails,
 * so that no change is missed in silence; collected again, by `retry` for instance, it begins with
 * a new snapshot. With `conflate()`, or a `buffer` that drops events, it never fails so, and misses
 * changes.
 *
 * The collection fails with [LockkeeperException] if the collector was too slow, the server refuses
 * the watch for good, or the client is closed meanwhile; with [IllegalStateException] if the client
 * was closed before.
 *
 * @param prefix up to 512 bytes of UTF-8; empty: all locks
 */
public fun LockkeeperClient.changes(prefix: String): Flow<WatchEvent> =
  callbackFlow {
      val watch = watch(prefix, Sender(prefix, channel))
      awaitClose { watch.close() }
    }
    .buffer(ROOM)

/** Sends on what a watch tells; called one at a time. */
private class Sender(private val prefix: String, private val channel: SendChannel<WatchEvent>) :
  WatchListener {

  private fun send(event: WatchEvent) {
    if (channel.trySend(event).isFailure) {
      // No effect if the collection is over.
      channel.close(
        LockkeeperException(
          "watch of \"$prefix\": the collector has fallen too far behind: collect faster, give it" +
            " a larger buffer, or collect again, which begins with a new snapshot"
        )
      )
    }
  }

  override fun onSnapshot(lock: LockInfo) = send(WatchEvent.InUse(lock))

  override fun onSnapshotEnd() = send(WatchEvent.SnapshotEnd)

  override fun onChange(change: LockChange) = send(WatchEvent.Changed(change))

  override fun onGap(reason: String) = send(WatchEvent.Gap(reason))

  override fun onFailed(why: LockkeeperException) {
    channel.close(why)
  }
}
