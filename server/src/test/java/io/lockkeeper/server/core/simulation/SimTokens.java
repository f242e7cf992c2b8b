package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.PermitsKind;
import io.lockkeeper.server.core.lock.ReadWriteKind;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Fencing tokens rise with every grant that excludes an earlier one; who goes on holding keeps the
 * token.
 */
final class SimTokens {

  /** The highest token that was granted, and to whom. */
  private record Highest(long token, SimHolds.Life holder) {}

  private final Map<LockName, Highest> exclusive = new HashMap<>();
  private final Map<LockName, Highest> reads = new HashMap<>();
  private final Map<String, SimHolds.Life> permits = new HashMap<>();

  void onGrant(SimHolds.Life life, Notice.Grant grant, Mode mode, Supplier<String> what) {
    long token = grant.token().value();
    if (mode instanceof PermitsKind.Permits) {
      SimHolds.Life other = permits.put(grant.lock() + " " + token, life);
      SimRules.check(
          other == null || isSame(other, life),
          () -> "a token of permits was granted twice: " + what.get());
      return;
    }
    boolean read = mode == ReadWriteKind.READ;
    rises(Optional.ofNullable(exclusive.get(grant.lock())), token, life, what);
    if (!read) {
      rises(Optional.ofNullable(reads.get(grant.lock())), token, life, what);
    }
    (read ? reads : exclusive)
        .merge(grant.lock(), new Highest(token, life), (a, b) -> a.token() > b.token() ? a : b);
  }

  private static void rises(
      Optional<Highest> before, long token, SimHolds.Life life, Supplier<String> what) {
    before.ifPresent(
        highest ->
            SimRules.check(
                highest.token() < token
                    || (highest.token() == token && isSame(highest.holder(), life)),
                () -> "the token does not rise after " + highest.token() + ": " + what.get()));
  }

  /** The same owner's hold, or the same request at another coordinator. */
  private static boolean isSame(SimHolds.Life holder, SimHolds.Life life) {
    return holder.isOfOwner(life) || holder.request().equals(life.request());
  }
}
