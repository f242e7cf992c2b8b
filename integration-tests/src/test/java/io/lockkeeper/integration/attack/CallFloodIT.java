package io.lockkeeper.integration.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.StatusRuntimeException;
import io.lockkeeper.integration.harness.RawHttp2;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Optional;
import java.util.zip.GZIPOutputStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Attackers that open calls, and send of a request all but the last byte, or nothing. */
final class CallFloodIT {

  private static final int PER_CONNECTION = 4_096;

  @RegisterExtension private static final Target target = Target.start("/call-flood");

  @Test
  void callsOfHeadersAloneNeverTakeTheServersMemoryAndEndByThemselves() throws IOException {
    // When: far more than may be open, with all the metadata that may be
    Floods.headersAlone(target.attack(), 8, PER_CONNECTION);
    target.awaitRefused("address-calls");

    // Then
    target.assertServes();
    target.awaitRefused("first-message");
    assertThat(target.server().metric("lockkeeper_calls")).isLessThan(PER_CONNECTION + 100);
  }

  @Test
  void requestsThatNeverComeWholeNeverTakeTheServersMemory() throws IOException {
    // When: 16 x 60 KB on each of 200 connections, three times the direct memory
    Floods.partialRequests(target.attack(), 200);
    target.awaitRefused("partial-requests");

    // Then: as soon as the server has read what was sent
    Awaitility.await()
        .ignoreExceptionsInstanceOf(StatusRuntimeException.class)
        .untilAsserted(target::assertServes);
  }

  @Test
  void requestInPiecesOfOneByteCostsNoMoreThanItsSize() throws IOException {
    // When
    Floods.piecesOfOneByte(target.attack(), 20);
    target.awaitRefused("partial-requests");

    // Then: as soon as the server has read what was sent
    Awaitility.await()
        .ignoreExceptionsInstanceOf(StatusRuntimeException.class)
        .untilAsserted(target::assertServes);
  }

  @Test
  void requestThatIsLargeOnceUnpackedIsRefused() throws IOException {
    // Given: 10 MB of one letter as the name of a lock
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
      gzip.write(new byte[10 << 20]);
    }
    byte[] message = Messages.framedAsPacked(packed.toByteArray());

    // When
    RawHttp2 attacker = target.attack().http2();
    int stream = attacker.call(RawHttp2.ACQUIRE, "grpc-encoding", "gzip");
    attacker.data(stream, message, true);
    attacker.flush();

    // Then: trailers with a status, and no reset
    Optional<RawHttp2.Frame> answer = attacker.await(RawHttp2.HEADERS);
    assertThat(answer).isPresent();
  }
}
