package io.lockkeeper.bench.runner;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class HttpTest {

  @Test
  void serverThatAcceptsAndDoesNotAnswerIsNotWaitedForForEver() throws IOException {
    // Given
    try (ServerSocket mute = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      // When
      Optional<Http.Answer> answer = Http.find(address(mute), Duration.ofMillis(100));

      // Then
      assertThat(answer).isEmpty();
    }
  }

  @Test
  void serverThatIsNotThereIsNotFound() throws IOException {
    // Given
    ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    closed.close();

    // When
    Optional<Http.Answer> answer = Http.find(address(closed));

    // Then
    assertThat(answer).isEmpty();
  }

  private static URI address(ServerSocket server) {
    return URI.create("http://127.0.0.1:" + server.getLocalPort() + "/health");
  }
}
