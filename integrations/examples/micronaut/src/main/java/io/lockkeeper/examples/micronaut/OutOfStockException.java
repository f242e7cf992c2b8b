package io.lockkeeper.examples.micronaut;

/** None of an item is left, or the shop has never had it. */
public final class OutOfStockException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  OutOfStockException(String item) {
    super("no " + item + " is in stock");
  }
}
