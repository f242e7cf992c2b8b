package io.lockkeeper.server.core.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.api.Caller;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.SessionKey;
import org.junit.jupiter.api.Test;

final class LeaseTest {

  @Test
  void streamIsPromisedNothingWhateverTheClockSays() {
    // Given
    Lease stream =
        Lease.ofStream(new LeaseId(1, 2), Caller.ANYBODY, new SessionKey(1), 1, "holder");
    // Then: the clock's zero is anywhere
    assertThat(stream.promised(-5_000_000_000L, 0)).isZero();
    assertThat(stream.promised(5_000_000_000L, 0)).isZero();
  }
}
