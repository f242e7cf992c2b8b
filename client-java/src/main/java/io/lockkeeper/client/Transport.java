package io.lockkeeper.client;

import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.TlsChannelCredentials;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Opens gRPC channels, encrypted or not. */
record Transport(ChannelCredentials credentials) {

  private static final String DEFAULT_PORT = ":7420";
  private static final int MAX_PORT = 65_535;
  private static final Pattern WITH_PORT =
      Pattern.compile("(\\[[0-9A-Fa-f:.%]+]|[^:\\s]+):(\\d{1,5})");

  /** gRPC takes nothing shorter. The lease's own keep-alives find a dead server sooner. */
  private static final int PING_SECONDS = 10;

  private static final int PONG_SECONDS = 5;

  /**
   * Who the client is.
   *
   * @param certificateChain PEM
   * @param privateKey PEM
   */
  record Identity(Path certificateChain, Path privateKey) {}

  static Transport plaintext() {
    return new Transport(InsecureChannelCredentials.create());
  }

  static Transport tls(Optional<Path> trustedCertificates, Optional<Identity> identity) {
    TlsChannelCredentials.Builder credentials = TlsChannelCredentials.newBuilder();
    try {
      if (trustedCertificates.isPresent()) {
        credentials.trustManager(trustedCertificates.get().toFile());
      }
      if (identity.isPresent()) {
        credentials.keyManager(
            identity.get().certificateChain().toFile(), identity.get().privateKey().toFile());
      }
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "cannot read the TLS files: " + e.getMessage(), new UncheckedIOException(e));
    }
    return new Transport(credentials.build());
  }

  ManagedChannel connect(String address) {
    return Grpc.newChannelBuilder(address, credentials)
        .keepAliveTime(PING_SECONDS, TimeUnit.SECONDS)
        .keepAliveTimeout(PONG_SECONDS, TimeUnit.SECONDS)
        .keepAliveWithoutCalls(true)
        .directExecutor() // Everything gRPC calls is handed to the client's loop at once.
        .build();
  }

  /** Splits {@code host:port,…} and adds missing ports. */
  static List<String> parse(String servers) {
    List<String> addresses =
        Arrays.stream(servers.split(",")).map(String::strip).map(Transport::withPort).toList();
    for (String address : addresses) {
      Matcher parts = WITH_PORT.matcher(address);
      if (!parts.matches() || Integer.parseInt(parts.group(2)) > MAX_PORT) {
        throw new IllegalArgumentException(
            "server addresses are host:port,host:port,… and this is none: \"" + address + "\"");
      }
    }
    return addresses;
  }

  private static String withPort(String address) {
    boolean hasNone = address.indexOf(':') < 0 || address.endsWith("]");
    return hasNone ? address + DEFAULT_PORT : address;
  }
}
