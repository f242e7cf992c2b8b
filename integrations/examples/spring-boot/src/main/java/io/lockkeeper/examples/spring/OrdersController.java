package io.lockkeeper.examples.spring;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** What can be asked of the shop over HTTP. */
@RestController
public class OrdersController {

  private final Orders orders;
  private final Ledger ledger;
  private final Reporter reporter;

  OrdersController(Orders orders, Ledger ledger, Reporter reporter) {
    this.orders = orders;
    this.ledger = ledger;
    this.reporter = reporter;
  }

  /** Ships an item of an order. */
  @PostMapping("/orders/{order}/items")
  public int ship(@PathVariable String order) {
    return orders.ship(order);
  }

  /** Returns how many items of an order were shipped. */
  @GetMapping("/orders/{order}/items")
  public int items(@PathVariable String order) {
    return ledger.items(order);
  }

  /** Returns whether this instance is the one that reports. */
  @GetMapping("/reporter")
  public boolean isReporter() {
    return reporter.isLeader();
  }
}
