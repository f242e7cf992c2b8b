package io.lockkeeper.kotlin

import io.lockkeeper.client.LockRequest
import io.lockkeeper.client.NotAcquiredException
import io.lockkeeper.testing.InMemoryLockkeeper
import java.io.IOException
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.toJavaDuration
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.future.await
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.AutoClose
import org.junit.jupiter.api.Test

/** Waiting, holding, releasing, and what a cancellation does to each. */
class WithLockTest {

  @AutoClose private val server = InMemoryLockkeeper.start()
  @AutoClose private val client = server.clientBuilder().build()

  @Test
  fun blockRunsWithTheTokenAndTheLockIsReleasedAfterIt() =
    runBlocking<Unit> {
      // When
      val tokens =
        client.withLock(LOCK) { lock -> lock.fencingToken() to server.holderToken(LOCK).get() }
      // Then
      assertThat(tokens.first).isEqualTo(tokens.second)
      assertThat(server.holderToken(LOCK)).isEmpty()
    }

  @Test
  fun exceptionOfTheBlockIsThrownAndTheLockIsReleased() =
    runBlocking<Unit> {
      // When
      val outcome = runCatching { client.withLock(LOCK) { throw IOException("disk full") } }
      // Then
      assertThat(outcome.exceptionOrNull())
        .isInstanceOf(IOException::class.java)
        .hasMessage("disk full")
        .hasNoSuppressedExceptions()
      assertThat(server.holderToken(LOCK)).isEmpty()
    }

  @Test
  fun lockIsHeldUntilAllThatTheBlockHasStartedHasEnded() =
    runBlocking<Unit> {
      // Given
      val finish = CompletableDeferred<Unit>()
      val held = CompletableDeferred<Boolean>()
      val returned = CompletableDeferred<Unit>()
      val task = launch {
        client.withLock(LOCK) { lock ->
          launch {
            finish.await()
            held.complete(lock.isValid)
          }
          returned.complete(Unit)
        }
      }
      returned.await()
      // When
      finish.complete(Unit)
      task.join()
      // Then
      assertThat(held.await()).isTrue()
      assertThat(server.holderToken(LOCK)).isEmpty()
    }

  @Test
  fun coroutinesOnOneThreadExcludeEachOtherAndDoNotBlockIt() =
    runBlocking<Unit> {
      // Given
      val inside = AtomicInteger()
      val most = AtomicInteger()
      val elsewhere = AtomicInteger()
      val other = launch {
        while (true) {
          elsewhere.incrementAndGet()
          yield()
        }
      }
      // When
      val tasks =
        List(2) {
          launch {
            repeat(20) {
              client.withLock(LOCK) {
                most.accumulateAndGet(inside.incrementAndGet(), ::maxOf)
                val before = elsewhere.get()
                while (elsewhere.get() < before + 10) yield()
                inside.decrementAndGet()
              }
            }
          }
        }
      tasks.joinAll()
      other.cancelAndJoin()
      // Then
      assertThat(most).hasValue(1)
    }

  @Test
  fun thousandCoroutinesWaitOnOneThread() =
    runBlocking<Unit> {
      // Given
      var count = 0
      val first = client.lockSuspending(LOCK)
      val tasks = List(1_000) { launch { client.withLock(LOCK) { count++ } } }
      client.awaitQueue(LOCK, 1_000)
      // When
      first.releaseAsync().await()
      tasks.joinAll()
      // Then
      assertThat(count).isEqualTo(1_000)
      client.awaitUnused(LOCK)
    }

  @Test
  fun cancelledWaiterLeavesTheQueue() =
    runBlocking<Unit> {
      // Given
      val holder = client.lockSuspending(LOCK)
      val waiter = launch { client.withLock(LOCK) {} }
      client.awaitQueue(LOCK, 1)
      // When
      waiter.cancelAndJoin()
      // Then
      client.awaitQueue(LOCK, 0)
      assertThat(holder.isValid).isTrue()
    }

  @Test
  fun cancelledHolderHasReleasedTheLockWhenItEnds() =
    runBlocking<Unit> {
      // Given
      val entered = CompletableDeferred<Unit>()
      val holder = launch {
        client.withLock(LOCK) {
          entered.complete(Unit)
          awaitCancellation()
        }
      }
      entered.await()
      // When
      holder.cancelAndJoin()
      // Then
      assertThat(server.holderToken(LOCK)).isEmpty()
    }

  @Test
  fun grantThatACancelledCoroutineNeverSeesIsReleased() =
    runBlocking<Unit> {
      // Given
      val dispatcher = SteppedDispatcher()
      val waiter =
        CoroutineScope(dispatcher).launch { client.withLock(LOCK) { awaitCancellation() } }
      dispatcher.runSteps()
      eventually { dispatcher.hasSteps } // Granted, and not resumed so far.
      assertThat(server.holderToken(LOCK)).isPresent()
      // When
      waiter.cancel()
      dispatcher.runSteps()
      // Then
      assertThat(waiter.isCompleted).isTrue()
      client.awaitUnused(LOCK)
    }

  @Test
  fun grantThatRacesACancellationIsNeverLeaked() =
    runBlocking<Unit> {
      repeat(300) { round ->
        // Given
        val holder = client.lockSuspending(LOCK)
        val waiter =
          launch(Dispatchers.Default, CoroutineStart.UNDISPATCHED) { client.withLock(LOCK) {} }
        // When
        val release = holder.releaseAsync()
        repeat(round) { Thread.onSpinWait() }
        waiter.cancelAndJoin()
        release.await()
        // Then
        val next = withTimeoutOrNull(1.minutes) { client.withLock(LOCK) { true } }
        assertThat(next).describedAs("round %d", round).isTrue()
      }
      client.awaitUnused(LOCK)
    }

  @Test
  fun tryWithLockRunsTheBlockOnlyIfTheLockIsFree() =
    runBlocking<Unit> {
      // When
      val free = client.tryWithLock(LOCK) { "ran" }
      val taken = client.withLock(LOCK) { client.tryWithLock(LOCK) { "ran" } }
      val requested = client.withLock(LOCK) { client.tryWithLocks(LockRequest.of(LOCK)) { "ran" } }
      // Then
      assertThat(free).isEqualTo("ran")
      assertThat(taken).isNull()
      assertThat(requested).isNull()
    }

  @Test
  fun tryWithLockWaitsWithinItsLimit() =
    runBlocking<Unit> {
      // Given
      val holder = client.lockSuspending(LOCK)
      val waiter = async { client.tryWithLock(LOCK, 7.days) { "ran" } }
      client.awaitQueue(LOCK, 1)
      // When
      holder.releaseAsync().await()
      // Then
      assertThat(waiter.await()).isEqualTo("ran")
    }

  @Test
  fun tryWithLockIsNullAfterItsLimit() =
    runBlocking<Unit> {
      // When
      val result = client.withLock(LOCK) { client.tryWithLock(LOCK, 10.milliseconds) { "ran" } }
      // Then
      assertThat(result).isNull()
    }

  @Test
  fun tryWithLockTakesNoLongerLimitThanThereIs() =
    runBlocking<Unit> {
      // When
      val outcome = runCatching { client.tryWithLock(LOCK, 8.days) { "ran" } }
      // Then
      assertThat(outcome.exceptionOrNull())
        .isInstanceOf(IllegalArgumentException::class.java)
        .hasMessageContaining("zero to 7 days")
    }

  @Test
  fun failureOfARequestInsideTheBlockIsNotTakenForItsOwn() =
    runBlocking<Unit> {
      // Given
      val impatient = LockRequest.of("other").waitAtMost(0.minutes.toJavaDuration())
      val other = client.lockSuspending("other")
      // When
      val outcome = runCatching { client.tryWithLock(LOCK) { client.withLocks(impatient) {} } }
      // Then
      assertThat(outcome.exceptionOrNull()).isInstanceOf(NotAcquiredException::class.java)
      assertThat(other.isValid).isTrue()
    }

  private companion object {
    const val LOCK = "orders/42"
  }
}
