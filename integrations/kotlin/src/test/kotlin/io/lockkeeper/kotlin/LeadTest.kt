package io.lockkeeper.kotlin

import io.lockkeeper.client.LockLostException
import io.lockkeeper.testing.InMemoryLockkeeper
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.future.await
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.AutoClose
import org.junit.jupiter.api.Test

/** One candidate's term: elected, leading, deposed, cancelled. */
class LeadTest {

  @AutoClose private val server = InMemoryLockkeeper.start()
  @AutoClose private val client = server.clientBuilder().build()
  private val election = client.asElection(NAME)

  @Test
  fun leaderIsKnownByItsValueWhileItLeadsAndResignsAfterIt() =
    runBlocking<Unit> {
      // When
      val leader = election.lead("10.0.0.7") { election.leader().await().get().value() }
      // Then
      assertThat(leader).isEqualTo("10.0.0.7")
      assertThat(server.holderToken(NAME)).isEmpty()
    }

  @Test
  fun deposedLeaderIsCancelledAndTheNextOneLeads() =
    runBlocking<Unit> {
      // Given
      val leading = CompletableDeferred<Unit>()
      val first = async {
        runCatching {
          election.lead("10.0.0.7") {
            leading.complete(Unit)
            awaitCancellation()
          }
        }
      }
      leading.await()
      val second = async { election.lead("10.0.0.8") { leadership -> leadership.isValid } }
      client.awaitQueue(NAME, 1)
      // When
      server.removeHolder(NAME)
      // Then
      assertThat(first.await().exceptionOrNull()).isInstanceOf(LockLostException::class.java)
      assertThat(second.await()).isTrue()
    }

  @Test
  fun cancelledCandidateLeavesTheQueue() =
    runBlocking<Unit> {
      // Given
      val leader = client.lockSuspending(NAME)
      val candidate = launch { election.lead("10.0.0.7") {} }
      client.awaitQueue(NAME, 1)
      // When
      candidate.cancelAndJoin()
      // Then
      client.awaitQueue(NAME, 0)
      assertThat(leader.isValid).isTrue()
    }

  private companion object {
    const val NAME = "reports/leader"
  }
}
