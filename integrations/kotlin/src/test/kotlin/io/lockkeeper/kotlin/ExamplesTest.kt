package io.lockkeeper.kotlin

import io.lockkeeper.client.LockLostException
import io.lockkeeper.client.LockRequest
import io.lockkeeper.client.LockkeeperClient
import io.lockkeeper.testing.InMemoryLockkeeper
import java.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.consumeAsFlow
import kotlinx.coroutines.flow.filterIsInstance
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.map
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.AutoClose
import org.junit.jupiter.api.Test

/** The examples of the documentation, run. */
class ExamplesTest {

  @AutoClose private val server = InMemoryLockkeeper.start()
  @AutoClose private val client = server.clientBuilder().build()

  /** What the lock protects: it refuses any token below the highest that it has seen. */
  private class Stock(private var left: Int) {
    private var highestToken = 0L

    fun decrement(fencingToken: Long): Int {
      check(fencingToken >= highestToken) { "the token is old" }
      highestToken = fencingToken
      return --left
    }
  }

  private class Shop(private val client: LockkeeperClient, private val stock: Stock) {

    suspend fun sell(item: String): Int =
      client.withLock("stock/$item") { lock -> stock.decrement(lock.fencingToken()) }

    suspend fun trySell(item: String): Int? =
      client.tryWithLock("stock/$item", 1.seconds) { lock -> stock.decrement(lock.fencingToken()) }

    suspend fun sellSlowly(item: String): Int {
      val request = LockRequest.of("stock/$item").maxHold(Duration.ofMinutes(1))
      return client.withLocks(request) { lock -> stock.decrement(lock.fencingToken()) }
    }

    suspend fun sellAgain(item: String): Int {
      while (true) {
        try {
          return sell(item)
        } catch (e: LockLostException) {
          log("once more, if the stock has refused the token: ${e.reason()}")
        }
      }
    }

    private fun log(message: String) = println(message)
  }

  @Test
  fun itemsAreSoldByEachWay() =
    runBlocking<Unit> {
      // Given
      val shop = Shop(client, Stock(4))
      // When
      val left =
        listOf(shop.sell("a"), shop.trySell("a"), shop.sellSlowly("a"), shop.sellAgain("a"))
      // Then
      assertThat(left).containsExactly(3, 2, 1, 0)
    }

  @Test
  fun taskWithAnOwnerMayAskAgain() =
    runBlocking<Unit> {
      // When
      val task = LockRequest.of("orders/42").owner("task-17")
      val holds = client.withLocks(task) { client.withLocks(task) { lock -> lock.holdCount() } }
      // Then
      assertThat(holds).isEqualTo(2)
    }

  private suspend fun leadForEver(client: LockkeeperClient, report: suspend (Long) -> Unit) {
    val election = client.asElection("reports/leader")
    while (true) {
      try {
        election.lead("http://10.0.0.7:8080") { leadership ->
          while (true) {
            report(leadership.fencingToken())
            delay(1.seconds)
          }
        }
      } catch (e: LockLostException) {
        println("deposed: ${e.reason()}")
      }
    }
  }

  @Test
  fun deposedLeaderIsACandidateAgain() =
    runBlocking<Unit> {
      // Given
      val tokens = Channel<Long>(Channel.UNLIMITED)
      val candidate = launch { leadForEver(client) { tokens.send(it) } }
      val first = tokens.receive()
      // When
      server.removeHolder("reports/leader")
      // Then
      val later = tokens.consumeAsFlow().first { it != first }
      assertThat(later).isGreaterThan(first)
      candidate.cancelAndJoin()
    }

  private fun namesOfLocksInUse(client: LockkeeperClient): Flow<String> =
    client.changes("orders/").filterIsInstance<WatchEvent.InUse>().map { it.lock.name() }

  @Test
  fun locksInUseAreSeen() =
    runBlocking<Unit> {
      // When
      val name = client.withLock("orders/42") { namesOfLocksInUse(client).first() }
      // Then
      assertThat(name).isEqualTo("orders/42")
    }
}
