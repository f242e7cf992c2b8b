package io.lockkeeper.examples.kotlin

import io.lockkeeper.client.LockkeeperClient
import io.lockkeeper.kotlin.withLock
import kotlin.system.exitProcess
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

private const val BUYERS = 3
private const val BOOKS = 6

/**
 * Lets three buyers buy from one stock until it is empty, each in a coroutine of its own and all on
 * one thread: whoever holds the lock looks and takes.
 *
 * The only argument is the server's address, `localhost:7420` for instance.
 */
fun main(args: Array<String>) {
  if (args.size != 1) {
    System.err.println("usage: java -jar lockkeeper-example-kotlin.jar HOST:PORT")
    exitProcess(2)
  }
  val stock = Stock(BOOKS)
  println("$BOOKS books are in stock")
  LockkeeperClient.builder(args[0]).holder("kotlin example").build().use { client ->
    runBlocking { sellAll(client, stock) }
  }
  println("sold ${BOOKS - stock.left} books, ${stock.left} are left")
}

private suspend fun sellAll(client: LockkeeperClient, stock: Stock) = coroutineScope {
  for (buyer in 1..BUYERS) {
    launch {
      while (buy(client, stock, buyer)) {
        // Until there is nothing left.
      }
    }
  }
}

/** Buys one book; false: there is none left. */
private suspend fun buy(client: LockkeeperClient, stock: Stock, buyer: Int): Boolean =
  client.withLock("stock/books") { lock ->
    val left = stock.look()
    if (left == 0) {
      println("buyer $buyer found none left")
      return@withLock false
    }
    stock.take(lock.fencingToken())
    println("buyer $buyer took a book with token ${lock.fencingToken()}, ${left - 1} are left")
    true
  }
