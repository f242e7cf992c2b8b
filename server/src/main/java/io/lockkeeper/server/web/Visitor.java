package io.lockkeeper.server.web;

import java.security.cert.X509Certificate;
import java.util.Optional;

/**
 * What a visitor brings along to say who he is.
 *
 * @param certificate the certificate that the handshake has proved
 * @param authorization the header {@code Authorization}
 */
record Visitor(Optional<X509Certificate> certificate, Optional<String> authorization) {}
