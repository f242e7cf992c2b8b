package io.lockkeeper.examples.kotlin

import kotlinx.coroutines.delay

/**
 * What the lock protects. It stands for a database, and refuses whoever comes with an old token.
 */
internal class Stock(books: Int) {

  /** How many books are left. */
  var left: Int = books
    private set

  private var highestToken = 0L

  /** Returns how many books are left, after a moment in which others may come between. */
  suspend fun look(): Int {
    val seen = left
    delay(1)
    return seen
  }

  /**
   * Takes one book.
   *
   * @throws IllegalStateException if a later holder of the lock has been here, or none is left
   */
  fun take(fencingToken: Long) {
    check(fencingToken >= highestToken) { "token $fencingToken is old: $highestToken was here" }
    check(left > 0) { "there are no books left" }
    highestToken = fencingToken
    left--
  }
}
