package io.lockkeeper.integration.attack;

import io.lockkeeper.integration.harness.Asking;
import java.io.IOException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Attackers that ask for streams by the hundred, and read none. */
final class SlowReaderFloodIT {

  private static final int CONNECTIONS = 4;
  private static final int WATCHES = 250;
  private static final int CHANGES = 200;

  @RegisterExtension private static final Target target = Target.start("/slow-reader-flood");

  @Test
  void streamsThatNobodyReadsNeverTakeTheServersMemoryTogether() throws IOException {
    // Given
    Floods.unreadWatches(target.attack(), "slow/", CONNECTIONS, WATCHES);
    Awaitility.await()
        .until(() -> target.server().metric("lockkeeper_watches") >= CONNECTIONS * WATCHES);

    // When: far more comes for all of them together than the heap would hold
    String metadata = "x".repeat(4_000);
    for (int change = 0; change < CHANGES; change++) {
      Asking asking =
          Asking.with(
              target.honest(),
              Asking.request("slow/" + change % 10).putMetadata("k", metadata).build());
      asking.awaitGrant();
      asking.release();
    }

    // Then
    target.assertServes();
  }
}
