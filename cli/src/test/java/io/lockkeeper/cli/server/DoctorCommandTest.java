package io.lockkeeper.cli.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.cli.Cli;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;

class DoctorCommandTest {

  @Test
  void ensembleThatCannotBeReachedIsNotPraisedForWhatItKeepsOut() throws IOException {
    // Given
    int closed;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      closed = socket.getLocalPort();
    }
    // When
    Cli doctor = Cli.run("doctor", "--zookeeper", "127.0.0.1:" + closed);
    // Then
    assertThat(doctor.exitCode()).isEqualTo(2);
    assertThat(doctor.out())
        .contains("FAIL  ensemble: a coordinator gets no session", "WARN  stranger: not looked at")
        .doesNotContain("is not let in");
  }
}
