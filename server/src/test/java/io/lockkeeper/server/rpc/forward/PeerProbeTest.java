package io.lockkeeper.server.rpc.forward;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.testing.Calls;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who waits for a look at a port. */
@Timeout(60)
class PeerProbeTest {

  @Test
  void nameThatTakesLongToLookUpHoldsNoOtherPeerUp() {
    // Given
    CompletableFuture<Boolean> lookup = new CompletableFuture<>();
    Calls<String> begun = new Calls<>("look");
    Calls<Boolean> seen = new Calls<>("what a look has seen");
    Calls<String> later = new Calls<>("what was put off");
    try (PeerProbe probe =
        new PeerProbe(
            Thread::new,
            address -> {
              begun.add(address);
              return address.equals("dead:1") || lookup.join();
            })) {
      probe.look("slow:1", refused -> {});
      begun.next();
      // When
      probe.look("dead:1", seen::add);
      probe.later(() -> later.add("now"));
      // Then
      assertThat(seen.next()).isTrue();
      assertThat(later.next()).isEqualTo("now");
      lookup.complete(false);
    }
  }
}
