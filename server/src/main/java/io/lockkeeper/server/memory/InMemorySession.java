package io.lockkeeper.server.memory;

import io.lockkeeper.server.core.api.Promises;
import io.lockkeeper.server.core.api.SessionEvent.AdoptedLease;
import io.lockkeeper.server.core.lock.LeaseId;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** A lock session in a {@link InMemoryCluster}, and whose it is. */
final class InMemorySession {

  private final String claim;
  private final Map<LeaseId, AdoptedLease> leases = new LinkedHashMap<>();
  private String owner;
  private int epoch;
  private Optional<Promises> promises = Optional.empty();

  InMemorySession(String claim, String owner) {
    this.claim = claim;
    this.owner = owner;
  }

  String claim() {
    return claim;
  }

  Map<LeaseId, AdoptedLease> leases() {
    return leases;
  }

  String owner() {
    return owner;
  }

  int epoch() {
    return epoch;
  }

  void takenBy(String next) {
    owner = next;
    epoch++;
    promises = Optional.empty();
  }

  /** Returns what its owner recorded when it left. */
  Optional<Promises> promises() {
    return promises;
  }

  void promises(Promises recorded) {
    promises = Optional.of(recorded);
  }
}
