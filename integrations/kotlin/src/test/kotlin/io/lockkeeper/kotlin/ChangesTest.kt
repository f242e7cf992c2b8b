package io.lockkeeper.kotlin

import io.lockkeeper.client.ChangeCause
import io.lockkeeper.client.LockkeeperException
import io.lockkeeper.testing.InMemoryLockkeeper
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.flow.buffer
import kotlinx.coroutines.flow.catch
import kotlinx.coroutines.flow.collect
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.onEach
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.flow.transformWhile
import kotlinx.coroutines.job
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.AutoClose
import org.junit.jupiter.api.Test

/** What a collector of changes is told. */
class ChangesTest {

  @AutoClose private val server = InMemoryLockkeeper.start()
  @AutoClose private val client = server.clientBuilder().build()

  @Test
  fun locksInUseAreToldFirstAndThenEveryChange() =
    runBlocking<Unit> {
      // Given
      val snapshot = CompletableDeferred<Unit>()
      val events = async {
        client
          .changes("orders/")
          .onEach { if (it is WatchEvent.SnapshotEnd) snapshot.complete(Unit) }
          .transformWhile {
            emit(it)
            !(it is WatchEvent.Changed && it.change.cause() == ChangeCause.RELEASED)
          }
          .toList()
      }
      // When
      client.withLock("orders/1") { snapshot.await() }
      // Then
      val told = events.await()
      assertThat(told.filterIsInstance<WatchEvent.SnapshotEnd>()).hasSize(1)
      assertThat(told.last()).isInstanceOfSatisfying(WatchEvent.Changed::class.java) {
        assertThat(it.change.name()).isEqualTo("orders/1")
        assertThat(it.change.holders()).isEmpty()
      }
    }

  @Test
  fun lockThatIsHeldAlreadyIsPartOfTheSnapshot() =
    runBlocking<Unit> {
      // When
      val first = client.withLock("orders/1") { client.changes("orders/").first() }
      // Then
      assertThat(first).isInstanceOfSatisfying(WatchEvent.InUse::class.java) {
        assertThat(it.lock.name()).isEqualTo("orders/1")
      }
    }

  @Test
  fun collectorThatFallsTooFarBehindFails() =
    runBlocking<Unit> {
      // Given
      val started = CompletableDeferred<Unit>()
      val failure = CompletableDeferred<Throwable>()
      val collector = async {
        client
          .changes("orders/")
          .catch { failure.complete(it) }
          .collect {
            started.complete(Unit)
            // Takes nothing until the coroutine that keeps the watch has ended.
            currentCoroutineContext().job.children.forEach { watch -> watch.join() }
          }
      }
      // When
      started.await()
      var locks = 0
      while (collector.isActive) client.withLock("orders/${locks++}") {}
      // Then
      assertThat(failure.await())
        .isInstanceOf(LockkeeperException::class.java)
        .hasMessageContaining("fallen too far behind")
    }

  @Test
  fun collectorMayUseTheClientItWatches() =
    runBlocking<Unit> {
      // When
      val events =
        client.changes("orders/").onEach { client.withLock("orders/seen") {} }.take(4).toList()
      // Then
      assertThat(events).hasSize(4)
    }

  @Test
  fun collectionFailsWhenTheClientIsClosedMeanwhile() =
    runBlocking<Unit> {
      // Given
      val watching = CompletableDeferred<Unit>()
      val collection = async {
        runCatching { client.changes("orders/").collect { watching.complete(Unit) } }
      }
      watching.await()
      // When
      withContext(Dispatchers.IO) { client.close() }
      // Then
      assertThat(collection.await().exceptionOrNull())
        .isInstanceOf(LockkeeperException::class.java)
        .hasMessageContaining("watch of \"orders/\": this client is closed")
    }

  @Test
  fun collectionUnderAClosedClientFails() =
    runBlocking<Unit> {
      // Given
      client.close()
      // When
      val outcome = runCatching { client.changes("").buffer(1).first() }
      // Then
      assertThat(outcome.exceptionOrNull()).isInstanceOf(IllegalStateException::class.java)
    }
}
