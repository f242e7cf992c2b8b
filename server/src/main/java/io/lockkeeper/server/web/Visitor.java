package io.lockkeeper.server.web;

import java.security.cert.X509Certificate;
import java.util.Optional;

/**
 * What a visitor brings along to say who he is, and where he believes to be.
 *
 * @param peer from where he comes: address and port
 * @param certificate the certificate that the handshake has proved
 * @param authorization the header {@code Authorization}
 * @param host the header {@code Host}
 */
record Visitor(
    String peer,
    Optional<X509Certificate> certificate,
    Optional<String> authorization,
    Optional<String> host) {}
