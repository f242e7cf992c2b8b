package io.lockkeeper.integration.harness;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The proxy itself. */
final class ByteProxyTest {

  private static final Duration DELAY = Duration.ofMillis(200);

  @Test
  void delayedBytesArriveLateAndInOrderAndLaterOnesDoNotAddUp() throws IOException {
    try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        ByteProxy proxy = ByteProxy.to(listener.getLocalPort());
        Socket client = new Socket(InetAddress.getLoopbackAddress(), proxy.port());
        Socket server = listener.accept()) {
      // Given
      proxy.delay(DELAY);

      // When
      final long sentNanos = System.nanoTime();
      for (int i = 0; i < 100; i++) {
        client.getOutputStream().write(i);
      }
      byte[] received = server.getInputStream().readNBytes(100);
      final long lateNanos = System.nanoTime() - sentNanos;

      // Then
      assertThat(lateNanos).isBetween(DELAY.toNanos(), DELAY.multipliedBy(50).toNanos());
      for (int i = 0; i < received.length; i++) {
        assertThat(received[i]).isEqualTo((byte) i);
      }
    }
  }

  @Test
  void whatComesAfterHealingStaysBehindWhatWasDelayed() throws IOException {
    try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        ByteProxy proxy = ByteProxy.to(listener.getLocalPort());
        Socket client = new Socket(InetAddress.getLoopbackAddress(), proxy.port());
        Socket server = listener.accept()) {
      // Given
      proxy.delay(DELAY);
      client.getOutputStream().write(1);

      // When
      proxy.heal();
      client.getOutputStream().write(2);

      // Then
      assertThat(server.getInputStream().readNBytes(2)).containsExactly(1, 2);
    }
  }
}
