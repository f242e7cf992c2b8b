package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.grpc.ManagedChannel;
import java.io.IOException;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PeerCredentialsTest {

  private static ManagedChannel dial(String address) throws IOException {
    return PeerCredentials.dialer(Optional.empty()).dial(address).build();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "lockkeeper-1.example:7420",
        "10.0.0.1:7420",
        "[::1]:7420",
        "[fe80::1%2]:7420",
        "dns:7420"
      })
  void peerIsReachedAtANameAndAtAnAddressOfEitherFamily(String address) throws IOException {
    // When
    ManagedChannel channel = dial(address);
    // Then
    assertThat(channel.authority()).isEqualTo(address);
    channel.shutdownNow();
  }

  @Test
  void nameThatGrpcDoesNotAcceptIsRefused() {
    // When // Then
    assertThatIllegalArgumentException().isThrownBy(() -> dial("my_host:7420"));
  }
}
