package io.lockkeeper.server.web.http;

import java.net.InetSocketAddress;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;

/**
 * What a visitor brings along to say who he is, and where he believes to be.
 *
 * @param address from where he comes
 * @param certificates the chain of certificates whose key the handshake has proved; empty: none
 * @param authorization the header {@code Authorization}
 * @param host the header {@code Host}
 */
public record Visitor(
    InetSocketAddress address,
    List<X509Certificate> certificates,
    Optional<String> authorization,
    Optional<String> host) {

  /** Copies the chain. */
  public Visitor {
    certificates = List.copyOf(certificates);
  }

  /** Returns the address and the port that he comes from, as the audit has them. */
  public String peer() {
    return address.getAddress().getHostAddress() + ":" + address.getPort();
  }
}
