package io.lockkeeper.kotlin

import io.lockkeeper.client.LockLostException
import io.lockkeeper.client.LossReason
import io.lockkeeper.testing.InMemoryLockkeeper
import io.lockkeeper.testing.ManualClock
import java.io.IOException
import java.time.Duration
import java.util.concurrent.atomic.AtomicBoolean
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.asExecutor
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.isActive
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.supervisorScope
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.AutoClose
import org.junit.jupiter.api.Test

/** What happens to a block, and what its caller is told, when its lock is lost. */
class LockLossTest {

  @AutoClose private val server = InMemoryLockkeeper.start()
  @AutoClose private val client = server.clientBuilder().build()

  private fun takeAway() = server.removeHolder(LOCK)

  /** Takes the lock away and returns when the block is cancelled. */
  private suspend fun CoroutineScope.awaitLoss() {
    takeAway()
    withContext(NonCancellable) { eventually { !this@awaitLoss.isActive } }
  }

  @Test
  fun lossCancelsTheBlockAndReachesTheCallerAsLockLostException() =
    runBlocking<Unit> {
      // When
      val cancelled = AtomicBoolean()
      val outcome = runCatching {
        client.withLock(LOCK) {
          takeAway()
          try {
            awaitCancellation()
          } finally {
            cancelled.set(true)
          }
        }
      }
      // Then
      val thrown = outcome.exceptionOrNull()
      assertThat(thrown).isInstanceOfSatisfying(LockLostException::class.java) {
        assertThat(it.lock()).isEqualTo(LOCK)
        assertThat(it.reason()).isEqualTo(LossReason.REMOVED)
      }
      assertThat(thrown).hasNoSuppressedExceptions()
      assertThat(cancelled).isTrue()
      assertThat(isActive).isTrue()
    }

  @Test
  fun lossCancelsWhatTheBlockHasStarted() =
    runBlocking<Unit> {
      // When
      val cancelled = AtomicBoolean()
      val outcome = runCatching {
        client.withLock(LOCK) {
          launch(Dispatchers.Default) {
            takeAway()
            try {
              awaitCancellation()
            } finally {
              cancelled.set(true)
            }
          }
        }
      }
      // Then
      assertThat(outcome.exceptionOrNull()).isInstanceOf(LockLostException::class.java)
      assertThat(cancelled).isTrue()
    }

  @Test
  fun lossFailsTheCoroutineOfTheCallerRatherThanEndingItInSilence() =
    runBlocking<Unit> {
      // When
      val failure = supervisorScope {
        val task = async {
          client.withLock(LOCK) {
            takeAway()
            awaitCancellation()
          }
        }
        runCatching { task.await() }.exceptionOrNull()
      }
      // Then
      assertThat(failure).isInstanceOf(LockLostException::class.java)
    }

  @Test
  fun blockThatSwallowsItsCancellationAndReturnsFails() =
    runBlocking<Unit> {
      // When
      val outcome = runCatching {
        client.withLock(LOCK) {
          takeAway()
          try {
            awaitCancellation()
          } catch (_: CancellationException) {
            "done"
          }
        }
      }
      // Then
      assertThat(outcome.exceptionOrNull()).isInstanceOf(LockLostException::class.java)
    }

  @Test
  fun exceptionOfABlockWhoseLockWasLostIsSuppressed() =
    runBlocking<Unit> {
      // When
      val outcome = runCatching {
        client.withLock(LOCK) {
          awaitLoss()
          throw IOException("disk full")
        }
      }
      // Then
      val thrown = outcome.exceptionOrNull()
      assertThat(thrown).isInstanceOf(LockLostException::class.java)
      assertThat(thrown!!.suppressed).singleElement().isInstanceOf(IOException::class.java)
    }

  @Test
  fun errorOfABlockWhoseLockWasLostSuppressesTheLoss() =
    runBlocking<Unit> {
      // When
      val outcome = runCatching {
        client.withLock(LOCK) {
          awaitLoss()
          throw StackOverflowError("endless")
        }
      }
      // Then
      val thrown = outcome.exceptionOrNull()
      assertThat(thrown).isInstanceOf(StackOverflowError::class.java)
      assertThat(thrown!!.suppressed).hasAtLeastOneElementOfType(LockLostException::class.java)
    }

  @Test
  fun cancellationOfTheCallerStaysOneThoughTheLockIsLost() =
    runBlocking<Unit> {
      // Given
      val entered = CompletableDeferred<Unit>()
      val thrown = CompletableDeferred<Throwable?>()
      val task = launch {
        val outcome = runCatching {
          client.withLock(LOCK) { lock ->
            entered.complete(Unit)
            try {
              awaitCancellation()
            } finally {
              takeAway()
              withContext(NonCancellable) { eventually { !lock.isValid } }
            }
          }
        }
        thrown.complete(outcome.exceptionOrNull())
        outcome.getOrThrow()
      }
      entered.await()
      // When
      task.cancelAndJoin()
      // Then
      assertThat(thrown.await()).isInstanceOf(CancellationException::class.java)
      assertThat(thrown.await()).hasCauseInstanceOf(LockLostException::class.java)
      assertThat(isActive).isTrue()
    }

  @Test
  fun lossOfTheOuterLockOfTwoIsToldAsTheOuterOnes() =
    runBlocking<Unit> {
      // When
      val outcome = runCatching {
        client.withLock(LOCK) {
          client.withLock("inner") {
            takeAway()
            awaitCancellation()
          }
        }
      }
      // Then
      assertThat(outcome.exceptionOrNull()).isInstanceOfSatisfying(LockLostException::class.java) {
        assertThat(it.lock()).isEqualTo(LOCK)
      }
      client.awaitUnused("inner")
    }

  @Test
  fun lossOfTheInnerLockOfTwoLeavesTheOuterOneHeld() =
    runBlocking<Unit> {
      // When
      val outcome =
        client.withLock("outer") { outer ->
          val inner = runCatching {
            client.withLock(LOCK) {
              takeAway()
              awaitCancellation()
            }
          }
          outer.isValid to inner.exceptionOrNull()
        }
      // Then
      assertThat(outcome.first).isTrue()
      assertThat(outcome.second).isInstanceOf(LockLostException::class.java)
    }

  @Test
  fun endOfTheLeaseReachesTheCallersOfAllLocksUnderIt() =
    runBlocking<Unit> {
      // Given
      val thrown = List(10) { CompletableDeferred<Throwable?>() }
      val entered = List(10) { CompletableDeferred<Unit>() }
      val tasks =
        thrown.mapIndexed { i, result ->
          launch {
            val outcome = runCatching {
              client.withLock("outer/$i") {
                client.withLock("inner/$i") {
                  entered[i].complete(Unit)
                  awaitCancellation()
                }
              }
            }
            result.complete(outcome.exceptionOrNull())
          }
        }
      entered.forEach { it.await() }
      // When
      server.endLeases()
      tasks.joinAll()
      // Then
      thrown.forEachIndexed { i, result ->
        assertThat(result.await()).isInstanceOfSatisfying(LockLostException::class.java) {
          assertThat(it.lock()).isEqualTo("outer/$i")
        }
      }
    }

  @Test
  fun blockNeverBeginsUnderALockWhoseDeadlineHasPassedThoughNobodyHasToldSo() {
    // Given
    val clock = ManualClock()
    val dispatcher = SteppedDispatcher()
    val callbacks = SteppedDispatcher()
    val began = AtomicBoolean()
    InMemoryLockkeeper.start(clock).use { frozen ->
      frozen.clientBuilder().callbackExecutor(callbacks.asExecutor()).build().use { slow ->
        val thrown = CompletableDeferred<Throwable?>()
        CoroutineScope(dispatcher).launch {
          val outcome = runCatching { slow.withLock(LOCK) { began.set(true) } }
          thrown.complete(outcome.exceptionOrNull())
        }
        dispatcher.runSteps()
        clock.settle()
        callbacks.runSteps()
        assertThat(dispatcher.hasSteps).describedAs("granted").isTrue()
        // When
        frozen.freeze()
        clock.advance(Duration.ofMinutes(5))
        dispatcher.runSteps()
        callbacks.runSteps()
        dispatcher.runSteps()
        // Then
        assertThat(began).isFalse()
        assertThat(thrown.isCompleted).isTrue()
        runBlocking { assertThat(thrown.await()).isInstanceOf(LockLostException::class.java) }
      }
    }
  }

  @Test
  fun blockThatHasReleasedItsLockIsNotToldOfALoss() =
    runBlocking<Unit> {
      // When
      val result =
        client.withLock(LOCK) { lock ->
          lock.releaseAsync()
          yield()
          "done"
        }
      // Then
      assertThat(result).isEqualTo("done")
    }

  private companion object {
    const val LOCK = "orders/42"
  }
}
