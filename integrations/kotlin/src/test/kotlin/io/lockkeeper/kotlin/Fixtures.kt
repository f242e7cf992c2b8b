package io.lockkeeper.kotlin

import io.lockkeeper.client.LockkeeperClient
import java.util.concurrent.LinkedBlockingQueue
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.withContext
import org.awaitility.Awaitility.await

/** Suspends until [condition] holds. */
internal suspend fun eventually(condition: () -> Boolean): Unit =
  withContext(Dispatchers.IO) { await().until(condition) }

/** Suspends until [count] requests wait for the lock. */
internal suspend fun LockkeeperClient.awaitQueue(name: String, count: Int): Unit = eventually {
  getLock(name).queueLength() == count
}

/** Suspends until nobody holds the lock or waits for it. */
internal suspend fun LockkeeperClient.awaitUnused(name: String): Unit = eventually {
  getLock(name).let { it.isFree && it.queueLength() == 0 }
}

/** Resumes coroutines only when told. */
internal class SteppedDispatcher : CoroutineDispatcher() {
  private val steps = LinkedBlockingQueue<Runnable>()

  val hasSteps: Boolean
    get() = steps.isNotEmpty()

  override fun dispatch(context: CoroutineContext, block: Runnable) {
    steps.add(block)
  }

  fun runSteps() {
    generateSequence { steps.poll() }.forEach { it.run() }
  }
}
