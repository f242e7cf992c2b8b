package io.lockkeeper.server.rpc.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.lock.PermitsKind;
import io.lockkeeper.server.core.lock.PermitsKind.Permits;
import io.lockkeeper.server.core.lock.ReadWriteKind;
import io.lockkeeper.server.testing.RoomKind;
import io.lockkeeper.server.testing.ViewSamples;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LockRequest;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ModesTest {

  private static final Mode BLUE = new RoomKind.Member("blue");

  private static LockRequest.Builder request(LockMode mode) {
    return LockRequest.newBuilder().setName("a").setMode(mode);
  }

  static Stream<Arguments> modes() {
    return Stream.of(
        arguments(request(LockMode.LOCK_MODE_UNSPECIFIED), MutexKind.EXCLUSIVE),
        arguments(request(LockMode.LOCK_MODE_EXCLUSIVE), MutexKind.EXCLUSIVE),
        arguments(request(LockMode.LOCK_MODE_READ), ReadWriteKind.READ),
        arguments(request(LockMode.LOCK_MODE_WRITE), ReadWriteKind.WRITE),
        arguments(request(LockMode.LOCK_MODE_PERMITS).setPermits(3).setLimit(5), new Permits(3, 5)),
        arguments(
            request(LockMode.LOCK_MODE_PERMITS).setPermits(1_000_000).setLimit(1_000_000),
            new Permits(1_000_000, 1_000_000)),
        arguments(
            request(LockMode.LOCK_MODE_PERMITS).setPermits(1_000_000),
            new Permits(1_000_000, PermitsKind.AS_CONFIGURED)),
        arguments(request(LockMode.LOCK_MODE_CUSTOM).setCustom("room-blue"), BLUE),
        arguments(request(LockMode.LOCK_MODE_CUSTOM).setCustom("room-blue-"), BLUE));
  }

  @ParameterizedTest
  @MethodSource("modes")
  void requestedModeIsTheCoresMode(LockRequest.Builder request, Mode expected) {
    // When
    Mode mode = Modes.toMode("locks[0]", request.build());
    // Then
    assertThat(mode).isEqualTo(expected);
  }

  @ParameterizedTest
  @MethodSource("modes")
  void shownModeCanBeAskedForAgain(LockRequest.Builder unused, Mode mode) {
    // Given
    Contender shown = Contenders.toMessage(ViewSamples.waiter(mode));
    // When
    LockRequest again =
        request(shown.getMode())
            .setPermits(shown.getPermits())
            .setLimit(shown.getLimit())
            .setCustom(shown.getCustom())
            .build();
    // Then
    assertThat(Modes.toMode("locks[0]", again)).isEqualTo(mode);
  }

  @Test
  void contenderShowsItsMode() {
    assertThat(shown(MutexKind.EXCLUSIVE).getMode()).isEqualTo(LockMode.LOCK_MODE_EXCLUSIVE);
    assertThat(shown(ReadWriteKind.READ).getMode()).isEqualTo(LockMode.LOCK_MODE_READ);
    assertThat(shown(ReadWriteKind.WRITE).getMode()).isEqualTo(LockMode.LOCK_MODE_WRITE);
    assertThat(shown(ReadWriteKind.WRITE).getPermits()).isZero();
    assertThat(shown(ReadWriteKind.WRITE).getCustom()).isEmpty();
    assertThat(shown(new Permits(3, 5)).getMode()).isEqualTo(LockMode.LOCK_MODE_PERMITS);
    assertThat(shown(new Permits(3, 5)).getPermits()).isEqualTo(3);
    assertThat(shown(new Permits(3, 5)).getLimit()).isEqualTo(5);
    assertThat(shown(BLUE).getMode()).isEqualTo(LockMode.LOCK_MODE_CUSTOM);
    assertThat(shown(BLUE).getCustom()).isEqualTo("room-blue");
  }

  private static Contender shown(Mode mode) {
    return Contenders.toMessage(ViewSamples.waiter(mode));
  }
}
