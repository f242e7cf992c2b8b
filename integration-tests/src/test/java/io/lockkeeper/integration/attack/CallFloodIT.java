package io.lockkeeper.integration.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.RawHttp2;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Optional;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;

/** Attackers that open calls, and send of a request all but the last byte, or nothing. */
final class CallFloodIT {

  private static final int PER_CONNECTION = 4_096;
  private static final int PIECE = 60 * 1024;
  private static final int FRAME = 15 * 1024;

  @Test
  void callsOfHeadersAloneNeverTakeTheServersMemoryAndEndByThemselves() throws IOException {
    try (Target target = Target.start("--log-level=warn")) {
      // When: far more than may be open, with all the metadata that may be
      String large = "x".repeat(6_000);
      for (int connection = 0; connection < 8; connection++) {
        RawHttp2 attacker = target.attack(Target.EVIL);
        for (int call = 0; call < PER_CONNECTION; call++) {
          attacker.call(RawHttp2.ACQUIRE, "x-large", large);
          if (call % 64 == 0) {
            attacker.flush();
          }
        }
        attacker.flush();
      }
      target.awaitRefused("address-calls");

      // Then
      target.assertServes();
      target.awaitRefused("first-message");
      assertThat(target.server().metric("lockkeeper_calls")).isLessThan(PER_CONNECTION + 100);
      target.callOff();
      target.awaitGivenBack();
      target.assertServes();
    }
  }

  @Test
  void requestsThatNeverComeWholeNeverTakeTheServersMemory() throws IOException {
    try (Target target = Target.start("--log-level=warn")) {
      // When: 16 x 60 KB on each of 200 connections, thrice the direct memory
      byte[] announced = new byte[FRAME];
      announced[3] = (byte) 0xEF; // Uncompressed, and 61,184 bytes long.
      byte[] more = new byte[FRAME];
      for (int connection = 0; connection < 200; connection++) {
        RawHttp2 attacker = target.attack(connection % 2 == 0 ? Target.EVIL : "127.0.0.3");
        for (int call = 0; call < 16; call++) {
          int stream = attacker.call(RawHttp2.ACQUIRE);
          attacker.data(stream, announced, false);
          for (int sent = FRAME; sent + FRAME <= PIECE; sent += FRAME) {
            attacker.data(stream, more, false);
          }
          attacker.flush();
        }
      }
      target.awaitRefused("partial-requests");

      // Then
      target.assertServes();
      target.callOff();
      target.awaitGivenBack();
      target.assertServes();
    }
  }

  @Test
  void requestInPiecesOfOneByteCostsNoMoreThanItsSize() throws IOException {
    try (Target target = Target.start("--log-level=warn")) {
      // When
      for (int connection = 0; connection < 20; connection++) {
        RawHttp2 attacker = target.attack(Target.EVIL);
        int stream = attacker.call(RawHttp2.ACQUIRE);
        attacker.data(stream, new byte[] {0, 0, 0, (byte) 0xEF, 0}, false);
        for (int sent = 0; sent < 30_000; sent++) {
          attacker.data(stream, new byte[1], false);
          if (sent % 500 == 0) {
            attacker.flush();
          }
        }
      }
      target.awaitRefused("partial-requests");

      // Then
      target.assertServes();
    }
  }

  @Test
  void requestThatIsLargeOnceUnpackedIsRefused() throws IOException {
    try (Target target = Target.start("--log-level=warn")) {
      // Given: 10 MB of one letter as the name of a lock
      ByteArrayOutputStream packed = new ByteArrayOutputStream();
      try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
        gzip.write(new byte[10 << 20]);
      }
      byte[] message = Messages.framedAsPacked(packed.toByteArray());

      // When
      RawHttp2 attacker = target.attack(Target.EVIL);
      int stream = attacker.call(RawHttp2.ACQUIRE, "grpc-encoding", "gzip");
      attacker.data(stream, message, true);
      attacker.flush();

      // Then: trailers with a status, and no reset
      Optional<RawHttp2.Frame> answer = attacker.await(RawHttp2.HEADERS);
      assertThat(answer).isPresent();
      target.assertServes();
    }
  }
}
