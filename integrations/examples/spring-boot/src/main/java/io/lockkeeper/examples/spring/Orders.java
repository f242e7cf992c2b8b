package io.lockkeeper.examples.spring;

import io.lockkeeper.spring.CurrentLock;
import io.lockkeeper.spring.Locked;
import org.springframework.stereotype.Service;

/** Ships orders: one item at a time of each, whichever instance is asked. */
@Service
public class Orders {

  private final Ledger ledger;

  Orders(Ledger ledger) {
    this.ledger = ledger;
  }

  /** Ships an item of an order, and returns how many that makes. */
  @Locked("shop/orders/#{#order}")
  public int ship(String order) {
    return ledger.add(order, CurrentLock.fencingToken());
  }
}
