package io.lockkeeper.server.security.tls;

import java.nio.file.Path;
import java.util.Optional;

/**
 * Where the files for TLS are, all in PEM.
 *
 * @param certificateChain the server's certificate, then those that signed it
 * @param privateKey the server's key, PKCS#8 without a passphrase
 * @param clientCa the authorities that sign clients' certificates
 * @param peerCa the authorities that sign other coordinators' certificates, and no clients'
 */
public record TlsPaths(
    Path certificateChain, Path privateKey, Optional<Path> clientCa, Optional<Path> peerCa) {}
