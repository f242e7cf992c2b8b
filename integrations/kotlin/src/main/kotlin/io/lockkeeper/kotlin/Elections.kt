package io.lockkeeper.kotlin

import io.lockkeeper.client.LeaderElection
import io.lockkeeper.client.Leadership
import io.lockkeeper.client.LeadershipListener
import kotlinx.coroutines.CoroutineScope

/**
 * Waits until this candidate is elected, runs [block] while it leads, and resigns before this
 * returns or throws. One term: whoever wants to lead again calls this again. Loss, cancellation and
 * errors are as of [withLock].
 *
 * ```
 * client.asElection("reports/leader").lead("http://10.0.0.7:8080") { leadership ->
 *   while (true) {
 *     step(leadership.fencingToken())
 *     delay(1.seconds)
 *   }
 * }
 * ```
 *
 * @param value what others shall know about this candidate: up to 4,000 bytes of UTF-8
 * @param listener is told what happens to the candidate: that others ask it to resign, say
 * @return what the block returns
 * @throws io.lockkeeper.client.LockLostException if the leadership was lost by the end of the block
 * @throws IllegalArgumentException if the value is too long
 */
public suspend fun <T> LeaderElection.lead(
  value: String,
  listener: LeadershipListener = LeadershipListener.NONE,
  block: suspend CoroutineScope.(Leadership) -> T,
): T {
  val leadership = campaignAsync(value, listener).awaitOr { it.resignAsync() }
  return leadership.handle().holding { block(leadership) }
}
